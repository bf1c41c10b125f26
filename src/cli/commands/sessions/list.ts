import { toWireSessionPage } from "../../../api/session.ts";
import { projectName } from "../../../model/display.ts";
import { totalTokens } from "../../../model/prices.ts";
import type { Session } from "../../../model/session.ts";
import { type Command, defineCommand, flag, option } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatAge, formatCount, formatDollars, formatTable, formatTime } from "../../print.ts";
import { printNoSessions } from "../../print-session.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { clip, oneLine } from "../../text.ts";
import { filterOptions, toInput, UNTIL, withOption } from "../input-options.ts";

interface Column {
  readonly name: string;
  /** `cost` is in microdollars. */
  readonly value: (session: Session, cost: number) => string;
  /** The column is shown if this holds for a session of the page. */
  readonly shown?: (session: Session, cost: number) => boolean;
  /** Narrower terminals omit it. */
  readonly from?: number;
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
  { name: "MESSAGES", value: ({ messageCount }) => formatCount(messageCount), from: 100 },
  {
    name: "TOKENS",
    value: (session) => formatCount(totalTokens(session.tokens)),
    shown: (session) => totalTokens(session.tokens) > 0,
    from: 120,
  },
  {
    name: "COST",
    value: (_session, cost) => (cost === 0 ? "" : formatDollars(cost)),
    shown: (_session, cost) => cost > 0,
    from: 120,
  },
  { name: "TITLE", value: ({ title }) => title },
];

export const list: Command = defineCommand({
  name: "list",
  aliases: ["list_sessions"],
  summary: "List sessions, the one with the newest interaction first.",
  details:
    "Each option narrows the list. The id is short, and every command takes it. Wider terminals show more columns: tokens of all kinds, cache reads included, and the cost by list prices, each without sub-agents. Times are local days, months or years, today, yesterday, ISO 8601 times, or ages such as 7d.",
  options: {
    ...filterOptions(...withOption("list")),
    since: option("TIME", "Last interaction at or after."),
    until: UNTIL,
    "machine-made": flag("Also machine-made sessions."),
    limit: option("N", "Sessions on a page: at most 500, 50 if left out."),
    cursor: option("CURSOR", "Continue after the previous page."),
  },
  examples: ["list --agent coder --since 7d"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const page = await tenant.listSessions({ ...toInput("listSessions", options), costs: true });
      const { terminal } = context;
      if (context.json) return terminal.printJson(toWireSessionPage(page));
      if (page.sessions.length === 0) {
        await printNoSessions(context, tenant);
        return EXIT.ok;
      }
      const costOf = ({ id }: Session) => page.costs?.get(id) ?? 0;
      const columns = COLUMNS.filter(
        ({ shown = () => true, from = 0 }) =>
          terminal.columns >= from && page.sessions.some((each) => shown(each, costOf(each))),
      );
      const cell = ({ value, most }: Column, session: Session) => {
        const text = oneLine(value(session, costOf(session)));
        return most === undefined || terminal.columns >= 160 ? text : clip(text, most);
      };
      const rows = page.sessions.map((session) => columns.map((each) => cell(each, session)));
      const header = columns.map(({ name }) => name);
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      if (page.nextCursor !== undefined) {
        terminal.note(`More: ${commandLine(context, `list --cursor ${page.nextCursor}`)}`);
      }
    }),
});
