/** Help for the query language, which the command line shares. */

/** Examples with their meaning. */
const EXAMPLES: readonly (readonly [typed: readonly string[], means: string])[] = [
  [["cron lock"], "either word; both are better"],
  [['"cron job"'], "these words in this order"],
  [["+lock", "cron AND lock"], "required"],
  [["-lock", "NOT lock"], "left out"],
  [["redis OR postgres"], "one of them"],
  [["acquire*"], "words that begin so; the last word that you type always does"],
  [["parseQuery", "src/a.ts"], "the whole name first, then its parts"],
  [["agent:", "project:", "repo:", "workstation:"], "where it was said"],
  [["git:", "model:", "role:", "tool:"], "the branch, the model, the writer, the tool"],
  [["since:7d", "until:2026-05"], "when: days, months, years, today, yesterday"],
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
