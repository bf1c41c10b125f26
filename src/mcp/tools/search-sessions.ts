import { z } from "zod";
import { askedNote } from "../../api/text/later.ts";
import { ABOUT_RECALLED, MEMORY_WORDS } from "../../api/text/session-heading.ts";
import { widerWindow } from "../../api/text/window.ts";
import { quoteConversation } from "../../context/quote.ts";
import type { SearchInput, SearchResult } from "../../engine/search.ts";
import { defined } from "../../model/defined.ts";
import { SEARCH_ORDERS } from "../../model/inputs/choices.ts";
import {
  DEFAULT_CONTEXT,
  DEFAULT_HITS,
  DEFAULT_MCP_HIT_TOKENS,
  DEFAULT_MCP_HITS,
  DEFAULT_MCP_WINDOW,
  MAX_HITS,
  MAX_WINDOW,
} from "../../model/limits.ts";
import { foundSession } from "../../recap/found-session.ts";
import type { SearchHit } from "../../search/request.ts";
import { fitListing, readOn } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { findNewestSession, findOwnSessions, OWN_LEFT_OUT } from "../own-session.ts";
import { HIT_REACH, HIT_VIEW, showHit, toHitViews } from "../views/hit.ts";
import { toLine } from "../views/line.ts";
import { ABOUT, filterFields, id, QUERY, sessionFilter, TIMES, TRUNCATED } from "./fields.ts";
import { MEMORY_VIEW, type MemoryView, showMemory, toMemoryView } from "./memory.ts";
import { defineTool, type Tool } from "./tool.ts";

const context = (where: string) =>
  z
    .number()
    .int()
    .min(0)
    .max(MAX_WINDOW - 1)
    .optional()
    .describe(
      `Messages ${where} a hit. Giving it implies detail "full", where it is ${DEFAULT_CONTEXT} if left out.`,
    );

const { agent, ...where } = filterFields("search");

/** That of a search has marks of up to 200 hits. */
const MAX_CURSOR = 4_096;

const INPUT = z.object({
  query: QUERY,
  context_before: context("before"),
  context_after: context("after"),
  agent,
  ...where,
  ...TIMES,
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_HITS)
    .optional()
    .describe(`Hits; ${DEFAULT_MCP_HITS} if left out, ${DEFAULT_HITS} in full.`),
  cursor: z.string().max(MAX_CURSOR).describe("next_cursor of the previous page.").optional(),
  sort: z.enum(SEARCH_ORDERS).optional().describe("time: of the best the newest first."),
  with_notes: z.boolean().optional().describe("Also notes."),
  exclude_session: id("A session to leave out, such as the one you speak in.").optional(),
});
type Input = z.infer<typeof INPUT>;

export const searchSessions: Tool = defineTool({
  name: "search_sessions",
  title: "Search earlier conversations",
  description: `${MEMORY_WORDS.searchSessions} Use it before you ask the user what was said, decided or solved before. Not for a period (recap), nor for a file, command or error (trace). Read on with list_messages { around: "k3f9#12" }, the id of a hit.`,
  scope: "read",
  input: INPUT,
  example: { query: "cron lock", since: "7d" },
  output: z.object({
    about: ABOUT,
    hits: z.array(HIT_VIEW),
    next_cursor: z.string().nullable().describe("Null on the last page."),
    total: z.number().nullable().describe("About how many conversations have most of it."),
    notes: z.array(z.string()),
    memories: z.array(MEMORY_VIEW).describe("With with_notes."),
    excluded_sessions: z.array(z.string()).describe("Left out: the caller's own."),
    indexing: z.boolean(),
    degraded: z.boolean(),
    partial: z.boolean(),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  presetCount: DEFAULT_HITS,
  // A caller that sets window sizes wants whole messages, so the answer is data.
  asksForData: ({ context_before, context_after }) =>
    context_before !== undefined || context_after !== undefined,
  tokensFor: ({ limit = DEFAULT_MCP_HITS }) =>
    DEFAULT_MCP_HIT_TOKENS * Math.max(1, limit / DEFAULT_MCP_HITS),
  cuts: [512, 256],
  run: async (host, input) => {
    const own = await findOwnSessions(host, input.exclude_session);
    const newest = own.isNamed ? undefined : await findNewestSession(host);
    const result = await search(host, input, own.ids, {
      ...defined({ contextBefore: input.context_before, contextAfter: input.context_after }),
      limit: input.limit ?? DEFAULT_HITS,
    });
    const { notes, indexing, degraded, partial } = result;
    return {
      about: ABOUT_RECALLED,
      hits: [...toHitViews(result, newest)],
      next_cursor: result.nextCursor ?? null,
      total: result.total ?? null,
      notes: [...notes],
      memories: await findNotes(host, input),
      excluded_sessions: [...own.ids],
      indexing,
      degraded,
      partial,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const { context_before: before = DEFAULT_MCP_WINDOW } = input;
    const { context_after: after = DEFAULT_MCP_WINDOW } = input;
    const own = await findOwnSessions(host, input.exclude_session);
    const newest = own.isNamed ? undefined : await findNewestSession(host);
    const result = await search(host, input, own.ids, {
      ...widerWindow(before, after, HIT_REACH),
      limit: input.limit ?? DEFAULT_MCP_HITS,
    });
    const style = { before, after, now: nowOf(host) };
    // The newest session may be the caller's own, whose question always matches: it goes last.
    const hits = [
      ...result.hits.filter(({ sessionId }) => sessionId !== newest),
      ...result.hits.filter(({ sessionId }) => sessionId === newest),
    ];
    const isAnswered = hits.some(({ onlyAsked }) => onlyAsked === undefined);
    const asking = isAnswered ? hits.filter(({ onlyAsked }) => onlyAsked !== undefined) : [];
    const items: string[] = [];
    let first: SearchHit | undefined;
    for (const hit of hits) {
      if (asking.includes(hit)) continue;
      const session = await foundSession(host.tenant, hit.sessionId);
      if (session === undefined) continue;
      first ??= hit;
      items.push(showHit(hit, session, { ...style, isNewest: hit.sessionId === newest }));
    }
    const notes = input.cursor === undefined ? await findNotes(host, input) : [];
    const count = items.length;
    items.push(
      ...notes.map((note) => toLine(`note ${showMemory(note, style.now)}`, NOTE_CHARACTERS)),
    );
    const askers = asking.flatMap(({ shortId, onlyAsked = [] }) => [shortId, ...onlyAsked]);
    const said = notesOf(result, own.ids.length);
    if (askers.length > 0) said.unshift(`${askedNote(askers)}.`);
    if (items.length === 0) return ["Nothing was found.", ...said].join("\n");
    const on = first === undefined ? [] : [readOn(host, first.shortId, first.index)];
    return fitListing(
      {
        items,
        toText: (shown, _from, to) => {
          const left = Math.max(0, count - to);
          const found = quoteConversation(ABOUT_RECALLED, shown.join("\n"));
          // The cursor of the page would pass over them.
          const isCut = left > 0 && result.nextCursor !== undefined;
          const way = isCut ? `: limit ${Math.max(1, to)} gives a cursor that goes on` : "";
          const more = left > 0 ? [`${left} more hits do not fit into max_tokens${way}.`] : [];
          const next = left > 0 ? [] : pageOf(result);
          return [found, [...more, ...on].join(" "), ...next, ...said].join("\n");
        },
      },
      maxBytes,
    );
  },
});

/** `About 140 conversations. More: cursor …`. */
function pageOf({ nextCursor, total = 0, hits }: SearchResult): string[] {
  if (nextCursor === undefined) return [];
  const about = total > hits.length ? `About ${total} conversations. ` : "";
  return [`${about}More: cursor ${nextCursor}`];
}

/** Notes beside hits, and the characters that are shown of each. */
const NOTES = 2;
const NOTE_CHARACTERS = 300;

/** Notes have no project, agent or time: a filter leaves them out. */
async function findNotes(
  host: McpHost,
  { query, with_notes: isWanted, ...input }: Input,
): Promise<MemoryView[]> {
  const filter = sessionFilter("search", { ...input, exclude_session: undefined }, nowOf(host));
  if (!isWanted || Object.keys(filter).length > 0) return [];
  return (await host.tenant.searchMemory(query, { limit: NOTES })).map(toMemoryView);
}

async function search(
  host: McpHost,
  input: Input,
  own: readonly string[],
  sizes: Pick<SearchInput, "contextBefore" | "contextAfter" | "limit">,
): Promise<SearchResult> {
  const result = await host.tenant.searchSessions(input.query, {
    ...sizes,
    ...defined({ cursor: input.cursor, sort: input.sort }),
    total: true,
    ...sessionFilter("search", input, nowOf(host)),
    excludeSession: own,
  });
  return { ...result, hits: (await host.changedFiles?.(result.hits)) ?? result.hits };
}

function notesOf({ notes, indexing, degraded, partial }: SearchResult, own: number): string[] {
  return [
    ...notes.map((note) => `Note: ${note}`),
    ...(own > 0 ? [OWN_LEFT_OUT] : []),
    ...(indexing ? ["The index is being built: older messages may be missing."] : []),
    ...(degraded ? ["Part of the index cannot be read: hits may be missing."] : []),
    ...(partial ? ["Time ran out: these are the hits so far."] : []),
  ];
}
