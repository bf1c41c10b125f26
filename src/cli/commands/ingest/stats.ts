import { toWireStats } from "../../../api/stats.ts";
import { type Sum, type Tally, tallySessions } from "../../../archive/tally.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount, formatTable } from "../../print.ts";
import { withStore } from "../../store.ts";
import { clip, oneLine } from "../../text.ts";
import { given, toCount, toRepo, toTime } from "../../values.ts";

/** Rows of each table, unless more are asked for. */
const ROWS = 14;

const BAR_COLUMNS = 30;

export const stats: Command = defineCommand({
  name: "stats",
  summary: "Add up sessions, messages and tokens: by agent, by project and by day.",
  details:
    "A session counts on the day of its last interaction. Tokens are what models were given and what they answered, without what came from a cache.",
  options: {
    agent: { type: "string", value: "NAME", help: "Only this agent's." },
    project: { type: "string", value: "ID", help: "Only those of this project." },
    repo: {
      type: "string",
      value: "NAME",
      help: "Only clones and worktrees of this repository: its remote, or the end of it.",
    },
    workstation: { type: "string", value: "ID", help: "Only those of this workstation." },
    since: { type: "string", value: "TIME", help: "Last interaction at or after." },
    until: { type: "string", value: "TIME", help: "Last interaction before." },
    limit: { type: "string", value: "N", help: `Rows of each table: ${ROWS} if left out.` },
  },
  examples: ["stats --since 30d"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const { agent, workstation } = options;
      const tally = await tallySessions(
        tenant,
        given({
          ...{ agent, workstation, projectId: options.project, repo: toRepo(options.repo) },
          since: toTime(options.since, "--since"),
          until: toTime(options.until, "--until"),
        }),
      );
      const limit = toCount(options.limit, "--limit") ?? ROWS;
      if (context.json) await context.terminal.printJson(toWireStats(tally));
      else for (const line of format(context, tally, limit)) await context.terminal.print(line);
      return EXIT.ok;
    }),
});

function format({ terminal }: Context, tally: Tally, limit: number): string[] {
  const { sessions, messages, tokens } = tally.total;
  if (sessions === 0) return ["No sessions."];
  const heading = `${counted(sessions, "session")}, ${counted(messages, "message")}, ${counted(tokens, "token")}`;
  const most = (sums: ReadonlyMap<string, Sum>) =>
    [...sums].sort(([, a], [, b]) => b.messages - a.messages);
  const newest = [...tally.days].sort(([a], [b]) => (a < b ? 1 : -1));
  const table = (name: string, rows: [string, Sum][]) => {
    const shown = rows.slice(0, limit);
    const largest = Math.max(1, ...shown.map(([, sum]) => sum.messages));
    const lines = formatTable(
      [name, "SESSIONS", "MESSAGES", "TOKENS", ""],
      shown.map(([key, sum]) => [
        clip(oneLine(key === "" ? "(none)" : key), 48),
        formatCount(sum.sessions),
        formatCount(sum.messages),
        formatCount(sum.tokens),
        "▇".repeat(Math.ceil((sum.messages / largest) * BAR_COLUMNS)),
      ]),
      terminal.columns,
    );
    const more = rows.length - shown.length;
    return ["", ...lines, ...(more > 0 ? [terminal.dim(`… ${formatCount(more)} more`)] : [])];
  };
  return [
    heading,
    ...table("AGENT", most(tally.agents)),
    ...table("PROJECT", most(tally.projects)),
    ...table("DAY", newest),
  ];
}
