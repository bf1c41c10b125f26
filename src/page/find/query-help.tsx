/** Help for the query language, which the command line shares. */

/** Examples with their meaning. */
const EXAMPLES: readonly (readonly [typed: readonly string[], means: string])[] = [
  [["cron lock"], "either word; messages with both rank higher"],
  [['"cron job"'], "the phrase"],
  [["+lock", "cron AND lock"], "required"],
  [["-lock", "NOT lock"], "excluded"],
  [["redis OR postgres"], "one of them"],
  [["acquire*"], "words with this prefix; the last word you type counts as one"],
  [["parseQuery", "src/a.ts"], "the whole name ranks before its parts"],
  [["agent:", "project:", "repo:", "workstation:"], "the origin of the session"],
  [["git:", "model:", "role:", "tool:"], "Git branch, model, role, tool"],
  [["since:7d", "until:2026-05"], "time: days, months, years, today, yesterday"],
];

export function QueryHelp() {
  return (
    <dl id="query-help" class="query-help">
      {EXAMPLES.map(([typed, means]) => (
        <div key={means}>
          <dt>
            {typed.map((one) => (
              <code key={one}>{one}</code>
            ))}
          </dt>
          <dd>{means}</dd>
        </div>
      ))}
    </dl>
  );
}
