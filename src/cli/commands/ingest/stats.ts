import { toWireStats } from "../../../api/stats.ts";
import type { Stats, Sum } from "../../../engine/sessions/stats.ts";
import { totalTokens } from "../../../model/prices.ts";
import { type Command, defineCommand, option, refuseOthers } from "../../command.ts";
import type { Context } from "../../context.ts";
import { counted, formatAmount, formatCount, formatDollars, pad } from "../../print.ts";
import { printNoSessions } from "../../print-session.ts";
import { readPricesFile } from "../../settings/models.ts";
import { withStore } from "../../store.ts";
import { clip, oneLine } from "../../text.ts";
import { toCount } from "../../values.ts";
import { usage } from "../context/context.ts";
import { filterOptions, toInput, UNTIL, withOption } from "../input-options.ts";

/** Rows of each table by default. */
const ROWS = 14;

/** The longest and the shortest length of a full bar. */
const BAR_COLUMNS = 30;
const LEAST_BAR_COLUMNS = 3;
const NAME_COLUMNS = 28;
const LEAST_NAME_COLUMNS = 12;

/** From one to eight eighths of a column. */
const EIGHTHS = "▏▎▍▌▋▊▉█";

export const stats: Command = defineCommand({
  name: "stats",
  summary: "Add up sessions, tokens and cost: by model, agent, project and day.",
  details:
    "Tokens by kind: input, output, cache writes and cache reads. The cost is by list prices, and models without a price are listed; a file may override the prices (BACKSCROLL_PRICES, ~/.backscroll/prices.json): see docs/ingest.md. A sub-agent's work counts for its parent session. A session counts on the day of its last interaction, tokens on the day of their message. Bars measure TOKENS.",
  arguments: [
    { name: "SESSION", optional: true, help: "Only this session, and how full its context is." },
  ],
  options: {
    ...filterOptions(...withOption("stats")),
    since: option("TIME", "Sessions with an interaction at or after."),
    until: UNTIL,
    limit: option("N", `Rows of each table: ${ROWS} if left out.`),
    prices: option("FILE", "A price table as JSON, instead of ours."),
  },
  examples: ["stats --since 30d", "stats --project shop", "stats 5f0c2a91"],
  run: (context, { SESSION }, options) => {
    if (SESSION !== undefined) {
      refuseOthers(options, "is for all sessions; leave out SESSION");
      return usage.run(context, { SESSION }, {});
    }
    return withStore(context, "read", async (tenant) => {
      const input = toInput("stats", options);
      const sums = await tenant.stats({
        ...input,
        ...(options.prices === undefined ? {} : { prices: readPricesFile(options.prices) }),
      });
      const limit = toCount(options.limit, "--limit") ?? ROWS;
      const { sessions, subagents } = sums.total;
      if (context.json) await context.terminal.printJson(toWireStats(sums));
      else if (sessions + subagents === 0) await printNoSessions(context, tenant, input);
      else for (const line of format(context, sums, limit)) await context.terminal.print(line);
    });
  },
});

function format({ terminal }: Context, stats: Stats, limit: number): string[] {
  const { total, prices } = stats;
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = total.tokens;
  const kinds = [
    `${formatCount(inputTokens)} input`,
    `${formatCount(outputTokens)} output`,
    `${formatCount(cacheCreationTokens)} cache written`,
    `${formatCount(cacheReadTokens)} cache read`,
  ];
  const subagents = total.subagents === 0 ? "" : ` with ${counted(total.subagents, "sub-agent")}`;
  const used = totalTokens(total.tokens) > 0;
  const unknown = prices.unknown.map(oneLine).join(", ");
  const most = (sums: ReadonlyMap<string, Sum>) =>
    [...sums].sort(([, a], [, b]) => weight(b) - weight(a));
  const newest = [...stats.days].sort(([a], [b]) => (a < b ? 1 : -1));
  const table = (name: string, rows: [string, Sum][]) => formatSums(name, rows, limit, terminal);
  return [
    `${counted(total.sessions, "session")}${subagents}, ${counted(total.messages, "message")}`,
    ...(used
      ? [`Tokens: ${kinds.slice(0, 2).join(", ")},`, `        ${kinds.slice(2).join(", ")}`]
      : []),
    ...(used
      ? [`Cost: ${formatDollars(total.costMicroUsd)} by list prices of ${prices.asOf}`]
      : []),
    ...(unknown === "" ? [] : [`No price is known for: ${unknown}`]),
    ...(used ? table("MODEL", most(stats.models)) : []),
    ...table("AGENT", most(stats.agents)),
    ...table("PROJECT", most(stats.projects)),
    ...table("DAY", newest),
  ];
}

/** A bar of this many columns, in eighths; at least one for values above 0. */
function formatBar(columns: number): string {
  const eighths = columns === 0 ? 0 : Math.max(1, Math.round(columns * 8));
  const whole = "█".repeat(Math.floor(eighths / 8));
  return whole + (EIGHTHS[(eighths % 8) - 1] ?? "");
}

/** By tokens, or by messages without reported tokens. */
function weight({ tokens, messages }: Sum): number {
  return totalTokens(tokens) + messages / 1e9;
}

function formatSums(
  name: string,
  rows: [string, Sum][],
  limit: number,
  terminal: Context["terminal"],
): string[] {
  const shown = rows.slice(0, limit);
  const largest = Math.max(1, ...shown.map(([, sum]) => totalTokens(sum.tokens)));
  const isWide = terminal.columns >= 110;
  const header = [
    ...(isWide ? ["SESSIONS", "MESSAGES"] : ["SESS"]),
    "INPUT",
    "OUTPUT",
    "CACHE W",
    "CACHE R",
    "COST",
    "TOKENS",
  ];
  const cells = shown.map(([, { sessions, messages, tokens, costMicroUsd }]) => [
    formatCount(sessions),
    ...(isWide ? [formatCount(messages)] : []),
    formatAmount(tokens.inputTokens),
    formatAmount(tokens.outputTokens),
    formatAmount(tokens.cacheCreationTokens),
    formatAmount(tokens.cacheReadTokens),
    formatDollars(costMicroUsd),
    formatAmount(totalTokens(tokens)),
  ]);
  const widths = header.map((each, i) =>
    Math.max(each.length, ...cells.map((row) => row[i]?.length ?? 0)),
  );
  const numbers = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = terminal.columns - numbers - 2;
  const longest = Math.max(name.length, ...shown.map(([key]) => oneLine(key).length));
  const names = Math.max(
    LEAST_NAME_COLUMNS,
    Math.min(NAME_COLUMNS, longest, room - LEAST_BAR_COLUMNS),
  );
  const bars = Math.max(LEAST_BAR_COLUMNS, Math.min(BAR_COLUMNS, room - names));
  const line = (first: string, row: readonly string[], bar: string) => {
    const padded = row.map((cell, i) => cell.padStart(widths[i] ?? 0));
    return [pad(first, names), ...padded, bar].join("  ").trimEnd();
  };
  const lines = [
    line(name, header, ""),
    ...shown.map(([key, sum], i) => {
      const bar = formatBar((totalTokens(sum.tokens) / largest) * bars);
      return line(shortName(oneLine(key === "" ? "(none)" : key), names), cells[i] ?? [], bar);
    }),
  ];
  const more = rows.length - shown.length;
  return ["", ...lines, ...(more > 0 ? [terminal.dim(`… ${formatCount(more)} more`)] : [])];
}

/** Cuts paths at the front, and model names before their date. */
function shortName(text: string, columns: number): string {
  if (text.length <= columns) return text;
  if (/[\\/]/.test(text)) return `…${text.slice(text.length - columns + 1)}`;
  return clip(text.replace(/[-@]\d{8}$/, ""), columns);
}
