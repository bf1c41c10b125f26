/** Explains an empty result: each line has a cause and a remedy. */

import { toWire } from "../../../api/shape.ts";
import { TALK_REACH } from "../../../api/text/talk.ts";
import type { ShownNeighbours } from "../../../api/text/window.ts";
import { widerWindow } from "../../../api/text/window.ts";
import { survey } from "../../../archive/ingest.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { SearchInput, SearchResult } from "../../../engine/search.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { SEARCH_RESULT } from "../../../model/answers/context.ts";
import { defined } from "../../../model/defined.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { MAX_SEARCH_DEADLINE_MS } from "../../../model/limits.ts";
import { filtersOf } from "../../../model/session-filters.ts";
import { withChangedFiles } from "../../changed-files.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { type FirstHit, readFirstHit } from "../../first-hit.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { counted, formatCount } from "../../print.ts";
import { formatHit } from "../../print-hit.ts";
import { commandLine, givenOptions, quote } from "../../program.ts";
import { withOwnEngine, withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { toCount } from "../../values.ts";
import { filterOptions, flagOf, toInput, UNTIL, withOption } from "../input-options.ts";

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

const OF_MESSAGES = ["role", "tool", "since", "until"] as const;
const NARROWS = new RegExp(`"|(?:^|\\s)(?:[-+]\\S|-?(?:${OF_MESSAGES.join("|")}):|(?:AND|OR)\\s)`);
/** The filters in the text of a query. */
const WORDS = [...filtersOf("search").flatMap(([, { word = [] }]) => word), ...OF_MESSAGES];

/** A person prefers waiting to missing hits. */
const DEADLINE_MS = MAX_SEARCH_DEADLINE_MS;

/** Extra neighbours on each side, as empty ones are skipped. */
const REACH = 3;

export const search: Command = defineCommand({
  name: "search",
  aliases: ["search_sessions"],
  summary: "Find messages, best first, with the messages around them. Exits with 1 if none match.",
  details: `Any text is a query: plain words and whole questions rank by how much they cover. "exact phrase", -without, OR, AND, +required, prefix* and the filters ${WORDS.join(": ")}: narrow it down; each filter is an option, too. A message is found the moment it was appended.`,
  arguments: [{ name: "QUERY", rest: true, help: "Words, phrases and filters to search for." }],
  options: {
    limit: option("N", "Hits on a page: at most 20, 10 if left out."),
    page: option("N", "This page of hits; 1 if left out."),
    cursor: option("CURSOR", "Continue after the previous page, as its JSON says."),
    sort: option("ORDER", "relevance, or time: of the best hits the newest first."),
    before: {
      type: "string",
      short: "B",
      value: "N",
      help: "Messages before a hit, in place of the request and its answer.",
    },
    after: { type: "string", short: "A", value: "N", help: "Messages after a hit, likewise." },
    ...filterOptions(...withOption("search")),
    role: option("ROLE", "Only messages of this role."),
    tool: option("NAME", "Only messages that use this tool."),
    since: option("TIME", "Only messages at or after this time."),
    until: UNTIL,
    all: flag("Every word must match."),
    branches: flag("Also edited messages and other branches."),
    "machine-made": flag("Also machine-made sessions, such as warm-ups."),
    "as-you-type": flag("The last word matches as a prefix."),
    "per-session": option("N", "Hits of one session; 1 if left out."),
    ranking: option("NAME", "default or plain."),
    explain: flag("Show the parts of each score."),
  },
  examples: ["search why does the cron job run twice", "search 'acquireLock -test since:30d' -B 3"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const page = toCount(options.page, "--page") ?? 1;
      if (page === 0) throw usageError("--page counts from 1", "--page");
      if (options.page !== undefined && options.cursor !== undefined) {
        throw usageError("--page and --cursor cannot go together", "--page");
      }
      const style = {
        before: toCount(options.before, "--before") ?? 1,
        after: toCount(options.after, "--after") ?? 1,
      };
      const isTalk = options.before === undefined && options.after === undefined;
      const reach = context.json ? 0 : REACH;
      const input: SearchInput = {
        ...toInput("searchSessions", options),
        ...(isTalk && !context.json
          ? { ...TALK_REACH, exchange: true }
          : widerWindow(style.before, style.after, reach)),
        total: true,
        ...(options.all ? { match: "all" } : {}),
        ...(options.branches ? { branches: "all" } : {}),
        ...defined({ ranking: toRanking(options.ranking) }),
        deadlineMs: DEADLINE_MS,
      };
      let result = await tenant.searchSessions(QUERY, input);
      if (result.indexing && (await completeIndex(context, tenant))) {
        result = await tenant.searchSessions(QUERY, input);
      }
      for (let turned = 1; turned < page && result.hits.length > 0; turned++) {
        const { nextCursor: cursor } = result;
        const next = cursor && (await tenant.searchSessions(QUERY, { ...input, cursor }));
        result = next || { ...result, hits: [] };
      }
      result = { ...result, hits: await withChangedFiles(tenant, result.hits) };
      // Other messages of its session may not meet a filter of messages, or an operator.
      const narrows =
        options.all === true ||
        NARROWS.test(QUERY) ||
        OF_MESSAGES.some((name) => options[name] !== undefined);
      const words = narrows ? "" : QUERY.replace(FILTER_WORD, " ").trim();
      const isRead = isTalk && !context.json && options["per-session"] === undefined;
      const first = isRead ? await readFirstHit(tenant, words, result).catch(ifDeleted) : undefined;
      await print(context, result, isTalk ? undefined : style, first);
      if (!context.json) tellTotal(context, QUERY, result, options);
      if (page > 1 && result.hits.length === 0) return EXIT.nothing;
      if (result.hits.length === 0 && !context.json) {
        // "None" is said only if all of the index was read.
        const isIncomplete = result.indexing || result.degraded || result.partial;
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

/** Of a filter that no session meets. */
const NO_SESSION = "No session has the ";

/** `About 140 sessions. More: backscroll search cron --page 2`. */
function tellTotal(
  context: Context,
  query: string,
  { hits, total = 0, nextCursor }: SearchResult,
  { page, ...options }: Readonly<Record<string, unknown>>,
): void {
  if (nextCursor === undefined || hits.length === 0) return;
  const about = total > hits.length ? `About ${counted(total, "session")}. ` : "";
  const next =
    options["cursor"] === undefined ? `--page ${Number(page ?? 1) + 1}` : `--cursor ${nextCursor}`;
  const same = givenOptions(options, ["cursor"]);
  context.terminal.note(
    `${about}More: ${commandLine(context, `search ${quote(query)} ${next}${same}`)}`,
  );
}

/** The first hit was deleted since it was found: it is shown as the search gave it. */
function ifDeleted(error: unknown): undefined {
  const isGone =
    BackscrollError.is(error, "session_not_found") || BackscrollError.is(error, "entry_not_found");
  if (!isGone) throw error;
}

async function print(
  context: Context,
  result: SearchResult,
  style: ShownNeighbours | undefined,
  first: FirstHit | undefined,
): Promise<void> {
  const { terminal } = context;
  if (context.json) {
    await terminal.printJson(toWire(SEARCH_RESULT, result));
    return;
  }
  // An empty result is explained as a whole, below.
  const isShown = (note: string) => result.hits.length > 0 || note.startsWith(NO_SESSION);
  for (const note of result.notes.filter(isShown)) terminal.note(note);
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
    for (const line of formatHit(hit, terminal, style, i === 0 ? first : undefined))
      await terminal.print(line);
  }
}

/** Options that exclude sessions or messages. */
const FILTERS: ReadonlySet<string> = new Set([
  ...filtersOf("search").map(([name]) => name),
  ...OF_MESSAGES,
]);
const FILTER_WORD = new RegExp(`(?:^|\\s)-?(?:${WORDS.join("|")}):(?:"[^"]*"|\\S+)`, "gi");

/** The time limit of looking for unread files. */
const SURVEY_MS = 2_000;

async function explainNothing(
  context: Context,
  tenant: TenantApi,
  query: string,
  input: SearchInput,
  indexing: boolean,
): Promise<string[]> {
  const sessions = (await tenant.tenantStatus())?.sessions ?? 0;
  const unread = await unreadFiles(context, tenant);
  const ingest = commandLine(context, "ingest");
  const again = (options: string) => commandLine(context, `search ${quote(query)} ${options}`);
  if (sessions === 0) {
    const what =
      unread === 0 ? "" : ` ${counted(unread, "transcript")} of this machine can be read.`;
    return [`The store is empty.${what} To fill it: ${ingest}`];
  }
  const lines: string[] = [];
  const firstOf = async (text: string, change: SearchInput) =>
    (await tenant.searchSessions(text, { ...bareSearch(change), limit: 1 })).hits[0];
  const aside =
    input.branches === "all" ? undefined : await firstOf(query, { ...input, branches: "all" });
  if (aside !== undefined) {
    const what =
      aside.branch === "late"
        ? "It occurs on the branch of a file that came late"
        : "It occurs in edited messages or on another branch";
    lines.push(`${what}: ${again("--branches")}`);
  }
  const filters = [...FILTERS].filter((name) => input[name as keyof SearchInput] !== undefined);
  const words = query.match(FILTER_WORD)?.map((word) => word.trim()) ?? [];
  const bare = query.replace(FILTER_WORD, " ").trim();
  if (filters.length + words.length > 0 && bare !== "") {
    const open = Object.fromEntries(Object.entries(input).filter(([name]) => !FILTERS.has(name)));
    if ((await firstOf(bare, open)) !== undefined) {
      const names = [...filters.map((name) => `--${flagOf(name)}`), ...words].join(", ");
      lines.push(`A filter leaves it out: there are hits without ${names}.`);
    }
  }
  // Unindexed messages may have the words.
  if (!indexing) lines.push(...(await unknownWords(tenant, bare === "" ? query : bare, input)));
  if (unread > 0)
    lines.push(
      `${counted(unread, "transcript")} of this machine ${unread === 1 ? "is" : "are"} not read yet: ${ingest}`,
    );
  return lines;
}

/** The same search, only to see whether it finds anything. */
function bareSearch(input: SearchInput): SearchInput {
  const { explain: _explain, perSession: _perSession, ...rest } = input;
  return { ...rest, contextBefore: 0, contextAfter: 0 };
}

/** Query words without a match in the store. */
async function unknownWords(
  tenant: TenantApi,
  query: string,
  { deadlineMs }: SearchInput,
): Promise<string[]> {
  const { explanation } = await tenant.searchSessions(query, {
    explain: true,
    limit: 1,
    match: "words",
    branches: "all",
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  // Terms of other fields, such as @path, are for the same words.
  const terms = (explanation?.terms ?? []).filter(({ term }) => /^[\p{L}\p{N}]/u.test(term));
  const typed = query.match(/[\p{L}\p{N}_-]+/gu) ?? [];
  // Terms are stems: the word is shown as typed.
  const wordOf = (term: string) =>
    typed.find((word) => word.toLowerCase().startsWith(term.slice(0, -1))) ?? term;
  const words = Map.groupBy(terms, ({ term }) => wordOf(term));
  const unknown = [...words].flatMap(([word, own]) =>
    own.every(({ documents }) => documents === 0) ? [word] : [],
  );
  if (unknown.length === 0) {
    return words.size > 1
      ? ["Each of these words occurs, but no message matches the whole query."]
      : [];
  }
  const list = unknown.map((term) => `"${term}"`).join(", ");
  for (const term of unknown) {
    const prefix = `${term.slice(0, Math.max(3, term.length - 2))}*`;
    if (term.length < 4) continue;
    const { hits } = await tenant.searchSessions(prefix, { limit: 1 });
    if (hits.length > 0)
      return [`No message has ${list}. Words that begin alike: search '${prefix}'`];
  }
  return [`No message has ${list}.`];
}

/** New or grown transcripts in the agents' places; 0 for a server's store. */
async function unreadFiles(context: Context, tenant: TenantApi): Promise<number> {
  if (isServer(context.address)) return 0;
  try {
    const signal = AbortSignal.timeout(SURVEY_MS);
    return (await survey(tenant, { environment: thisMachine(), signal })).files;
  } catch {
    // A hint must not fail the command.
    return 0;
  }
}
