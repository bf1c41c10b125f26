import { toWire } from "../../../api/shape.ts";
import type { ShownNeighbours } from "../../../api/text/shown-items.ts";
import { widerWindow } from "../../../api/text/wider-window.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { SearchInput, SearchResult } from "../../../engine/search.ts";
import { SEARCH_RESULT } from "../../../model/answers/context.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { MAX_SEARCH_DEADLINE_MS } from "../../../model/limits.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { counted, formatCount } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { explainNothing } from "../../search/nothing-found.ts";
import { formatHit } from "../../search/print-hit.ts";
import { withOwnEngine, withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { given, toCount, toPeriod } from "../../values.ts";
import { filterOptions, toFilters, UNTIL } from "../filter-options.ts";

/**
 * Builds the index of a local store when its unindexed tail is longer than a search reads.
 *
 * With fewer unindexed changes, the index is stale because its segments have an older analysis.
 */
const MANY_CHANGES = 256;

/** When to say why the search takes longer; on a terminal the progress line does. */
const NOTE_MS = 1_000;

/** False if nothing was built: a server does so itself, and the store may be read-only. */
async function completeIndex(context: Context, tenant: TenantApi): Promise<boolean> {
  if (isServer(context.address)) return false;
  const { lag } = await tenant.indexStatus();
  if (lag < MANY_CHANGES) return false;
  const note = setTimeout(() => {
    if (!process.stderr.isTTY) {
      context.terminal.note(`Building the index first: ${counted(lag, "change")} to be added.`);
    }
  }, NOTE_MS);
  try {
    await withOwnEngine(context, (engine) =>
      maintainTenants(engine, [tenant.tenant], "flush", "Building the index"),
    );
    return true;
  } catch (error) {
    // Show the hits of the indexed part.
    if (!BackscrollError.is(error)) throw error;
    context.terminal.note(`The index cannot be built: ${error.message}`);
    return false;
  } finally {
    clearTimeout(note);
  }
}

/** A person prefers waiting to missing hits. */
const DEADLINE_MS = MAX_SEARCH_DEADLINE_MS;

/** Extra neighbours on each side, as empty ones are skipped. */
const REACH = 3;

export const search: Command = defineCommand({
  name: "search",
  aliases: ["search_sessions"],
  summary: "Find messages, best first, with the messages around them. Exits with 1 if none match.",
  details:
    'Any text is a query: plain words and whole questions rank by how much they cover. "exact phrase", -without, OR, AND, +required, prefix* and the filters agent: project: repo: workstation: git: model: role: tool: since: until: narrow it down; each filter is an option, too. A message is found the moment it was appended.',
  arguments: [{ name: "QUERY", rest: true, help: "Words, phrases and filters to search for." }],
  options: {
    limit: { type: "string", value: "N", help: "Hits: at most 20, 10 if left out." },
    before: {
      type: "string",
      short: "B",
      value: "N",
      help: "Messages before a hit; 1 if left out.",
    },
    after: { type: "string", short: "A", value: "N", help: "Messages after a hit; 1 if left out." },
    ...filterOptions("agent", "owner", "participant", "project", "repo", "workstation"),
    ...filterOptions("gitBranch", "model", "session", "excludeSession"),
    role: { type: "string", value: "ROLE", help: "Only messages of this role." },
    tool: { type: "string", value: "NAME", help: "Only messages that use this tool." },
    since: { type: "string", value: "TIME", help: "Only messages at or after this time." },
    until: UNTIL,
    all: { type: "boolean", help: "Every word must match." },
    branches: { type: "boolean", help: "Also edited messages and other branches." },
    "machine-made": {
      type: "boolean",
      help: "Also machine-made sessions, such as warm-ups.",
    },
    "as-you-type": { type: "boolean", help: "The last word matches as a prefix." },
    "per-session": { type: "string", value: "N", help: "Hits of one session; 1 if left out." },
    ranking: { type: "string", value: "NAME", help: "default or plain." },
    explain: { type: "boolean", help: "Show the parts of each score." },
  },
  examples: ["search why does the cron job run twice", "search 'acquireLock -test since:30d' -B 3"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const style = {
        before: toCount(options.before, "--before") ?? 1,
        after: toCount(options.after, "--after") ?? 1,
      };
      const reach = context.json ? 0 : REACH;
      const input: SearchInput = given({
        ...toFilters("search", options),
        role: options.role,
        tool: options.tool,
        limit: toCount(options.limit, "--limit"),
        perSession: toCount(options["per-session"], "--per-session"),
        ...widerWindow(style.before, style.after, reach),
        ...toPeriod(options),
        match: options.all ? ("all" as const) : undefined,
        branches: options.branches ? ("all" as const) : undefined,
        machineMade: options["machine-made"],
        asYouType: options["as-you-type"],
        ranking: toRanking(options.ranking),
        explain: options.explain,
        deadlineMs: DEADLINE_MS,
      });
      let result = await tenant.searchSessions(QUERY, input);
      if (result.indexing && (await completeIndex(context, tenant))) {
        result = await tenant.searchSessions(QUERY, input);
      }
      await print(context, result, style);
      if (result.hits.length === 0 && !context.json) {
        // "None" is said only if all of the index was read.
        const isIncomplete = result.indexing || result.degraded;
        for (const line of await explainNothing(context, tenant, QUERY, input, isIncomplete)) {
          await context.terminal.print(line);
        }
      }
      return result.hits.length === 0 ? EXIT.nothing : EXIT.ok;
    }),
});

function toRanking(name: string | undefined): "default" | "plain" | undefined {
  if (name === undefined || name === "default" || name === "plain") return name;
  throw usageError(`--ranking must be default or plain, not "${name}"`, "--ranking");
}

async function print(
  context: Context,
  result: SearchResult,
  style: ShownNeighbours,
): Promise<void> {
  const { terminal } = context;
  if (context.json) {
    await terminal.printJson(toWire(SEARCH_RESULT, result));
    return;
  }
  // An empty result is explained as a whole, below.
  for (const note of result.hits.length === 0 ? [] : result.notes) terminal.note(note);
  if (result.indexing) {
    const rebuild = commandLine(context, "doctor --rebuild");
    terminal.note(
      `The index is being built: older messages may be missing. To build it now: ${rebuild}`,
    );
  }
  if (result.degraded) terminal.note("Part of the index is unreadable: doctor --rebuild mends it.");
  if (result.partial) terminal.note("The search took too long: these are the hits so far.");
  const { explanation } = result;
  if (explanation !== undefined) {
    const { documents, segments, candidates } = explanation;
    const counts = [
      `${formatCount(documents)} messages`,
      `${formatCount(segments)} segments and the tail`,
      `${formatCount(candidates)} candidate sessions`,
    ];
    await terminal.print(terminal.dim(counts.join(", ")));
    for (const { term, documents: having, weight } of explanation.terms) {
      await terminal.print(
        terminal.dim(
          `  ${oneLine(term)}  in ${formatCount(having)} messages, weight ${weight.toFixed(3)}`,
        ),
      );
    }
    await terminal.print();
  }
  if (result.hits.length === 0) {
    const where = result.indexing ? " in what is indexed so far" : "";
    await terminal.print(`Nothing found${where}.`);
  }
  for (const [i, hit] of result.hits.entries()) {
    if (i > 0) await terminal.print();
    for (const line of formatHit(hit, terminal, style)) await terminal.print(line);
  }
}
