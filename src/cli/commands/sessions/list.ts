import { toWireSessionPage } from "../../../api/session-page.ts";
import type { Nested } from "../../../engine/sessions/nested.ts";
import type { Outcome } from "../../../engine/sessions/outcome.ts";
import { defined } from "../../../model/defined.ts";
import { outcomeWords, projectName } from "../../../model/display.ts";
import { totalTokens } from "../../../model/prices.ts";
import type { Session } from "../../../model/session.ts";
import { type Command, defineCommand, flag, option, refuseOthers } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatAge, formatCount, formatDollars, formatTable, formatTime } from "../../print.ts";
import { printNoSessions } from "../../print-session.ts";
import { commandLine, givenOptions } from "../../program.ts";
import { withStore } from "../../store.ts";
import { clip, oneLine } from "../../text.ts";
import { sessions } from "../gateway/routes.ts";
import { filterOptions, toInput, UNTIL, withOption } from "../input-options.ts";

/** A session with what was asked for beside it. */
interface Listed {
  readonly session: Session;
  /** In microdollars. */
  readonly cost: number;
  readonly outcome: Outcome | undefined;
  readonly nested: Nested | undefined;
}

interface Column {
  readonly name: string;
  readonly value: (session: Session, listed: Listed) => string;
  /** The column is shown if this holds for a session of the page. */
  readonly shown?: (session: Session, listed: Listed) => boolean;
  /** Narrower terminals omit it, and from `to` on wider ones. */
  readonly from?: number;
  readonly to?: number;
  /** Its maximum width on a terminal. */
  readonly most?: number;
}

const COLUMNS: readonly Column[] = [
  { name: "ID", value: ({ shortId }) => shortId },
  { name: "AGE", value: (session) => formatAge(Date.now() - session.lastInteractionAt) },
  { name: "LAST INPUT", value: (session) => formatTime(session.lastInteractionAt), from: 140 },
  { name: "AGENT", value: ({ agent }) => agent, most: 12 },
  {
    name: "OWNER",
    value: ({ owner }) => owner,
    // An ingested session's owner is its agent.
    shown: ({ owner, agent }) => owner !== agent,
    from: 120,
    most: 16,
  },
  {
    name: "PROJECT",
    value: ({ origin }) => projectName(origin.projectPath ?? ""),
    shown: ({ origin }) => origin.projectPath !== undefined,
    most: 16,
  },
  { name: "ENDED", value: (_session, { outcome }) => outcome?.word ?? "", to: 120 },
  {
    name: "ENDED",
    value: (_session, { outcome }) => (outcome === undefined ? "" : outcomeWords(outcome)),
    from: 120,
  },
  { name: "MESSAGES", value: ({ messageCount }) => formatCount(messageCount), from: 140 },
  {
    name: "TOKENS",
    value: (session) => formatCount(totalTokens(session.tokens)),
    shown: (session) => totalTokens(session.tokens) > 0,
    from: 140,
  },
  {
    name: "COST",
    value: (_session, { cost }) => (cost === 0 ? "" : formatDollars(cost)),
    shown: (_session, { cost }) => cost > 0,
    from: 120,
  },
  { name: "TITLE", value: ({ title }, { nested }) => titleOf(title, nested) },
];

/** `9 × Reply with the marker`, `Mend the cron job (2 sub-agents)`: what the row stands for first. */
function titleOf(title: string, nested: Nested | undefined): string {
  if (nested === undefined) return title;
  const { repeats, subAgents } = nested;
  const runs = repeats.length === 0 ? "" : `${repeats.length + 1} × `;
  return `${runs}${subAgents === 0 ? "" : `(+${subAgents}) `}${title}`;
}

export const list: Command = defineCommand({
  name: "list",
  aliases: ["list_sessions"],
  summary: "List sessions, the one with the newest interaction first.",
  details:
    "Each option narrows the list. The id is short, and every command takes it. ENDED says how a session ended, as far as it shows: committed, answered or unfinished (its last request has no answer, or the last tests failed). Sub-agents are below the session that started them, (+3), and repeated runs of a program are one row, 9 ×; --parent and --flat show them, and --json lists all of them unless --nested is given. Wider terminals show more columns: tokens of all kinds, cache reads included, and the cost by list prices, each without sub-agents. Times are local days, months or years, today, yesterday, ISO 8601 times, or ages such as 7d.",
  options: {
    ...filterOptions(...withOption("list")),
    since: option("TIME", "Last interaction at or after."),
    until: UNTIL,
    "machine-made": flag("Also machine-made sessions."),
    flat: flag("Each session in a row of its own."),
    nested: flag("With --json: sub-agents and repeated runs as in the table."),
    sort: option("ORDER", "time, size or cost."),
    keys: flag("Conversations of a gateway, by key, each with its current session."),
    limit: option("N", "Sessions on a page: at most 500, 50 if left out."),
    cursor: option("CURSOR", "Continue after the previous page."),
  },
  examples: ["list --agent coder --since 7d"],
  run: (context, _args, options) => {
    if (options.keys) {
      const { limit, cursor, keys: _, ...others } = options;
      refuseOthers(others, "does not go with --keys; --limit and --cursor do");
      return sessions.run(context, {}, defined({ limit, cursor }));
    }
    return withStore(context, "read", async (tenant) => {
      const nested = !options.flat && (!context.json || options.nested === true);
      const page = await tenant.listSessions({
        ...toInput("listSessions", options),
        nested,
        costs: true,
        outcomes: true,
      });
      const { terminal } = context;
      if (context.json) return terminal.printJson(toWireSessionPage(page));
      if (page.sessions.length === 0) {
        for (const note of page.notes ?? []) await terminal.print(note);
        if (page.notes === undefined) await printNoSessions(context, tenant);
        return EXIT.ok;
      }
      const listed = page.sessions.map((session) => ({
        session,
        cost: page.costs?.get(session.id) ?? 0,
        outcome: page.outcomes?.get(session.id),
        nested: page.nested?.get(session.id),
      }));
      const columns = COLUMNS.filter(
        ({ shown = () => true, from = 0, to }) =>
          terminal.columns >= from &&
          (to === undefined || terminal.columns < to) &&
          listed.some((each) => shown(each.session, each)),
      );
      const cell = ({ value, most }: Column, each: Listed) => {
        const text = oneLine(value(each.session, each));
        return most === undefined || terminal.columns >= 160 ? text : clip(text, most);
      };
      const rows = listed.map((each) => columns.map((column) => cell(column, each)));
      const header = columns.map(({ name }) => name);
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      const folded = [...(page.nested?.values() ?? [])];
      if (folded.some(({ subAgents }) => subAgents > 0)) {
        terminal.note(
          `(+) Sub-agents of a session: ${commandLine(context, "list --parent ID --sub-agents")}`,
        );
      }
      if (folded.some(({ repeats }) => repeats.length > 0)) {
        terminal.note(`(×) Each run by itself: ${commandLine(context, "list --flat")}`);
      }
      if (page.nextCursor !== undefined) {
        const same = givenOptions(options, ["cursor"]);
        terminal.note(`More: ${commandLine(context, `list --cursor ${page.nextCursor}${same}`)}`);
      }
    });
  },
});
