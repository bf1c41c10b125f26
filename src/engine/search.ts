/** Checks and completes the input of a search. The host sets the scope, never the query. */

import { ROLES } from "../model/entry.ts";
import type { BranchScope, RankingName, SearchOrder } from "../model/inputs/choices.ts";
import { INPUTS } from "../model/inputs/index.ts";
import {
  DEFAULT_CONTEXT,
  DEFAULT_HITS,
  MAX_FILTER_VALUES,
  MAX_HITS,
  MAX_QUERY_BYTES,
  MAX_WINDOW,
} from "../model/limits.ts";
import type { Mark } from "../model/mark.ts";
import type { Fact, Memory } from "../model/note.ts";
import { memoryKey, readMemoryKey } from "../model/note.ts";
import { RECORD_KEY_PREFIX } from "../model/record.ts";
import { type FilterFields, filtersOf, type Stored } from "../model/session-filters.ts";
import type { NoteField } from "../search/index/layout.ts";
import type { SessionCondition } from "../search/port.ts";
import { asksForNow } from "../search/query/asks-for-now.ts";
import type { QueryMatch } from "../search/query/parse-query.ts";
import type { FoundHit, SearchAnswer, SearchHit, SearchRequest } from "../search/request.ts";
import { PROFILES, type RankingProfile } from "../search/score/profile.ts";
import {
  checkHits,
  checkInput,
  checkKey,
  checkObject,
  checkOneOf,
  checkPeriod,
  invalid,
  tooLarge,
} from "./check.ts";
import { formatSearchCursor, MAX_SEEN, parseSearchCursor } from "./cursor.ts";
import type { FoundMeaning } from "./embeddings/meaning.ts";
import type { EngineContext } from "./engine-context.ts";
import { shownMarks } from "./marks.ts";
import { filtersIn, suggestFilters } from "./sessions/near-filters.ts";

/** Several values are alternatives; different filters must all hold. */
type OneOrMore = string | readonly string[];

export interface SearchInput extends FilterFields<"search"> {
  readonly role?: OneOrMore;
  readonly tool?: OneOrMore;
  /** Messages at or after this time. */
  readonly since?: number | Date;
  /** Messages before this time. */
  readonly until?: number | Date;
  /** Messages before this sequence: for searches within one session. */
  readonly beforeSequence?: number;
  /**
   * `all`: every word must match. `any` (the default): more matches rank higher. `words`: as `any`,
   * without operators and filters, for a message as the query.
   */
  readonly match?: QueryMatch;
  /** `all` includes superseded messages and other branches. */
  readonly branches?: BranchScope;
  /** Includes machine-made sessions, such as a client's warm-up. */
  readonly machineMade?: boolean;
  /** The query is being typed: its last word matches as a prefix. */
  readonly asYouType?: boolean;
  /** The limit of hits: at most 20. Default 10. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page of the same search. */
  readonly cursor?: string;
  /** `time`: of the best 100 hits the newest first. Default `relevance`. */
  readonly sort?: SearchOrder;
  /** Adds `total` to the answer. Default false. */
  readonly total?: boolean;
  /** Hits per session. Default 1. */
  readonly perSession?: number;
  /** Messages before and after a hit. Default 4 each; together at most 15. */
  readonly contextBefore?: number;
  readonly contextAfter?: number;
  /** Adds to each hit the request that it answers, or the answer to it, wherever that stands. */
  readonly exchange?: boolean;
  /**
   * `default` measures best, `plain` has the weights of the fields alone; or single weights over
   * `default`.
   */
  readonly ranking?: RankingName | Partial<RankingProfile>;
  /** Adds the parts of each score. */
  readonly explain?: boolean;
  /**
   * Deadline in milliseconds, after which the answer has the hits so far. Default: that of `open`,
   * 500.
   */
  readonly deadlineMs?: number;
  /**
   * Ends the search: the call rejects with the signal's reason. A running search stops at its next
   * check of the deadline; with `inThread` it runs to its end.
   */
  readonly signal?: AbortSignal;
}

/** What callers within the engine choose. */
export interface InnerSearch {
  readonly reach?: "sessions" | "messages";
  /** The limit of hits. */
  readonly maxHits?: number;
  /** What was asked, if the query is only its words. */
  readonly question?: string;
}

export interface SearchResult extends Omit<SearchAnswer, "unreadable" | "lag" | "hits" | "next"> {
  /** The best first; marked ones last. */
  readonly hits: readonly SearchHit[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

export async function searchSessions(
  engine: EngineContext,
  query: string,
  input: SearchInput,
  { reach = "sessions", maxHits = MAX_HITS, question = query }: InnerSearch = {},
): Promise<SearchResult> {
  checkInput(input, "options", INPUTS.searchSessions);
  const { since, until } = checkPeriod(input);
  const roles = list(input.role, "role")?.map((role) => checkOneOf(role, ROLES, "role"));
  const tools = list(input.tool, "tool");
  const request: SearchRequest = {
    query: checkQuery(query),
    match: input.match ?? "any",
    now: engine.now(),
    limit: checkHits(input.limit, "limit", DEFAULT_HITS, maxHits),
    reach,
    ...(input.cursor === undefined ? {} : { seen: parseSearchCursor(input.cursor, query) }),
    sort: input.sort ?? "relevance",
    total: input.total ?? false,
    perSession: checkHits(input.perSession, "perSession", 1),
    ...windowOf(input),
    scope: toScope(input),
    ...(roles === undefined ? {} : { roles }),
    ...(tools === undefined ? {} : { tools }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until: until - 1 }),
    ...(input.beforeSequence === undefined ? {} : { beforeSequence: input.beforeSequence }),
    branches: input.branches ?? "active",
    machineMade: input.machineMade ?? false,
    asYouType: input.asYouType ?? false,
    profile: toProfile(input.ranking ?? "default"),
    exchange: input.exchange ?? false,
    explain: input.explain ?? false,
    asksForNow: asksForNow(question),
    deadlineMs: input.deadlineMs ?? engine.searchDeadlineMs,
  };
  const { meaning, note } = await meaningOf(engine, request);
  const {
    unreadable: _,
    lag: __,
    hits: found,
    next,
    ...answer
  } = await engine.store.search(
    engine.tenant,
    meaning === undefined ? request : { ...request, meaning },
    input.signal,
  );
  engine.searches.total++;
  if (answer.partial) engine.searches.partial++;
  const result = {
    hits: await withMarks(engine, found),
    ...(next === undefined || next.length > MAX_SEEN
      ? {}
      : { nextCursor: formatSearchCursor(next, query) }),
    ...answer,
  };
  const near =
    found.length === 0
      ? await suggestFilters(engine, { ...filtersIn(query), ...request.scope })
      : [];
  const notes = [...result.notes, ...near, ...(note === undefined ? [] : [note])];
  return { ...result, notes };
}

/** Reads what replaced the marked ones. */
async function withMarks(
  engine: EngineContext,
  hits: readonly FoundHit[],
): Promise<readonly SearchHit[]> {
  const marks = await shownMarks(
    engine,
    hits.flatMap(({ mark }) => mark ?? []),
  );
  return hits.map(({ mark, ...hit }) =>
    mark === undefined ? hit : { ...hit, mark: marks.shift() as Mark },
  );
}

/** Undefined without an embedder, or where the ranking does not use it. */
async function meaningOf(
  engine: EngineContext,
  { query, match, now, profile, asYouType }: SearchRequest,
): Promise<FoundMeaning> {
  // Queries are not embedded per keystroke.
  if (engine.meaning === undefined || profile.meaning === 0 || asYouType === true) return {};
  return engine.meaning.ofQuery(engine.tenant, query, match, now);
}

export interface SearchNotesInput {
  readonly limit?: number;
}

export interface SearchMemoryInput extends SearchNotesInput {
  /** Only the memories of this agent. */
  readonly agent?: string;
}

/** Whole memories, best first. */
export async function searchMemory(
  engine: EngineContext,
  query: string,
  input: SearchMemoryInput,
): Promise<readonly Memory[]> {
  checkInput(input, "options", INPUTS.searchMemory);
  const { agent } = input;
  const prefix = agent === undefined ? "" : memoryKey(agent, "");
  const limit = checkHits(input.limit, "limit", DEFAULT_HITS);
  const keys = await findNotes(engine, "memory", query, limit, prefix, {}, RECORD_KEY_PREFIX);
  const found = await Promise.all(
    keys.map((key) => {
      const memory = readMemoryKey(key);
      return engine.store.findMemory(engine.tenant, memory.agent, memory.name);
    }),
  );
  return found.filter((memory) => memory !== undefined);
}

export interface SearchFactsInput extends SearchNotesInput {
  /** The minimum confidence, from 0 to 1. */
  readonly minConfidence?: number;
}

/** Current facts, best first. */
export async function searchFacts(
  engine: EngineContext,
  query: string,
  input: SearchFactsInput,
): Promise<readonly Fact[]> {
  checkInput(input, "options", INPUTS.searchFacts);
  const limit = checkHits(input.limit, "limit", DEFAULT_HITS);
  const least = input.minConfidence ?? 0;
  const ids = await findNotes(engine, "fact", query, least > 0 ? MAX_HITS : limit, "");
  const found = await Promise.all(ids.map((id) => engine.store.findFact(engine.tenant, id)));
  return found
    .filter((fact) => fact !== undefined && fact.confidence >= least)
    .slice(0, limit) as readonly Fact[];
}

/** Facts of the sessions in `within`, best first; of all, if empty. */
export async function searchFactsOf(
  engine: EngineContext,
  query: string,
  limit: number,
  within: SessionCondition,
): Promise<readonly Fact[]> {
  const ids = await findNotes(engine, "fact", query, limit, "", within);
  const found = await Promise.all(ids.map((id) => engine.store.findFact(engine.tenant, id)));
  return found.filter((fact) => fact !== undefined);
}

/** The keys of a field's notes with `keyPrefix` and without `excludedPrefix`. */
export async function findNotes(
  engine: EngineContext,
  field: NoteField,
  query: string,
  limit: number,
  keyPrefix: string,
  within: SessionCondition = {},
  excludedPrefix?: string,
): Promise<readonly string[]> {
  const request = { field, query: checkQuery(query), now: engine.now(), limit, keyPrefix };
  const { meaning } =
    (await engine.meaning?.ofQuery(engine.tenant, query, "any", request.now)) ?? {};
  const { notes } = await engine.store.searchNotes(engine.tenant, {
    ...request,
    ...(excludedPrefix === undefined ? {} : { excludedPrefix }),
    ...(Object.keys(within).length === 0 ? {} : { scope: within }),
    ...(meaning && { meaning: { ...meaning, weight: PROFILES.default.meaning } }),
  });
  return notes.map(({ key }) => key);
}

function checkQuery(query: string): string {
  if (typeof query !== "string") throw invalid("query", "query must be a string");
  const bytes = Buffer.byteLength(query);
  if (bytes <= MAX_QUERY_BYTES) return query;
  throw tooLarge("query in bytes", MAX_QUERY_BYTES, bytes, "shorten the query");
}

/** A missing side gets its default, or the rest of the window. */
function windowOf(input: SearchInput): { readonly before: number; readonly after: number } {
  const { contextBefore: before, contextAfter: after } = input;
  const room = MAX_WINDOW - 1;
  const asked = (before ?? 0) + (after ?? 0);
  if (asked > room) {
    const field = after === undefined ? "contextBefore" : "contextAfter";
    const way = `a window has ${MAX_WINDOW} messages, the hit included; read on with listMessages`;
    throw tooLarge(field, room - (asked - (input[field] ?? 0)), input[field] ?? 0, way);
  }
  const rest = Math.min(DEFAULT_CONTEXT, room - asked);
  return { before: before ?? rest, after: after ?? rest };
}

export function toScope(input: SearchInput): SessionCondition {
  const lists = filtersOf("search").map(([name]) => [name, list(input[name], name)] as const);
  return Object.fromEntries(lists.filter(([, values]) => values !== undefined));
}

function list<Value extends string | number | boolean | Date>(
  value: Value | readonly Value[] | undefined,
  field: string,
): readonly Stored<Value>[] | undefined {
  if (value === undefined) return undefined;
  const values = Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
  if (values.length > MAX_FILTER_VALUES) {
    throw tooLarge(field, MAX_FILTER_VALUES, values.length, "search in several calls");
  }
  return values.map((one) => toStored(one, field));
}

/** A filter's value of its kind, as stores take it. */
export function toStored<Value>(value: Value, field: string): Stored<Value> {
  return (typeof value === "string" ? checkKey(value, field) : Number(value)) as Stored<Value>;
}

function toProfile(ranking: NonNullable<SearchInput["ranking"]>): RankingProfile {
  const { default: preset } = PROFILES;
  if (typeof ranking === "string") return PROFILES[ranking];
  for (const [name, weight] of Object.entries(ranking)) {
    if (!(name in preset)) {
      throw invalid("ranking", `ranking has no ${name}; it has ${Object.keys(preset).join(", ")}`);
    }
    const isGroup = typeof preset[name as keyof RankingProfile] === "object";
    const values = isGroup
      ? Object.values(checkObject(weight as object, `ranking.${name}`))
      : [weight];
    for (const value of values) {
      if (typeof value !== "number" || !(value >= 0)) {
        throw invalid(`ranking.${name}`, `ranking.${name} must be a number of at least 0`);
      }
    }
  }
  return {
    ...preset,
    ...ranking,
    bm25: { ...preset.bm25, ...ranking.bm25 },
    passage: { ...preset.passage, ...ranking.passage },
    roles: { ...preset.roles, ...ranking.roles },
  };
}
