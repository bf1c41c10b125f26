/** Pages of sessions, newest interaction first. */

import { defined } from "../../model/defined.ts";
import type { SessionOrder } from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { describe, isPlainObject } from "../../model/json.ts";
import { costOf, type PriceTable, priceOf, totalTokens } from "../../model/prices.ts";
import { HOUR_CACHE_KEY, type MetadataFilter, type Session } from "../../model/session.ts";
import type { FilterFields, FiltersOf } from "../../model/session-filters.ts";
import type { TextPlace } from "../../search/request.ts";
import type { TextRun } from "../../search/text/text-run.ts";
import type { SessionFilter, UsageSum } from "../../store/records.ts";
import { checkInput, checkKey, checkLimit, checkPeriod, invalid, tooLarge } from "../check.ts";
import {
  formatOffsetCursor,
  formatPageCursor,
  parseOffsetCursor,
  parsePageCursor,
} from "../cursor.ts";
import type { EngineContext } from "../engine-context.ts";
import { type SearchInput, toScope, toStored } from "../search.ts";
import { suggestFilters } from "./near-filters.ts";
import { countSubAgents, listRows, type Nested, sortSessions, withParents } from "./nested.ts";
import { type Outcome, readOutcomes } from "./outcome.ts";

/** Each field narrows the list. Times may be dates. */
export interface ListSessionsInput extends FilterFields<"list">, Pick<SessionFilter, "metadata"> {
  /** Includes machine-made sessions. Default false. */
  readonly machineMade?: boolean;
  readonly since?: number | Date;
  readonly until?: number | Date;
  /** Adds `costs` to the page. Default false. */
  readonly costs?: boolean;
  /** Adds `outcomes` to the page. Default false. */
  readonly outcomes?: boolean;
  /**
   * As a person reads a list: without sub-agents, and repeated runs of a machine as one row. Adds
   * `nested` to the page. Default false.
   */
  readonly nested?: boolean;
  /** `size` and `cost` sort the newest 10,000 sessions, and fold no runs. Default `time`. */
  readonly sort?: SessionOrder;
  /** At most 500. Default 50. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface SessionListPage {
  readonly sessions: readonly Session[];
  /**
   * What each session's calls cost in whole microdollars, by the session's id: by the store's
   * prices, without its sub-agents. Only if `costs` was given.
   */
  readonly costs?: ReadonlyMap<string, number>;
  /** How each session ended, by its id. Only if `outcomes` was given. */
  readonly outcomes?: ReadonlyMap<string, Outcome>;
  /** What each row stands for, by its id. Only if `nested` was given. */
  readonly nested?: ReadonlyMap<string, Nested>;
  /** Of an empty page: filters whose value no session has, and what may have been meant. */
  readonly notes?: readonly string[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Answered from columns: no entry's content is read, but for outcomes. */
export async function listSessions(
  engine: EngineContext,
  input: ListSessionsInput,
): Promise<SessionListPage> {
  const {
    costs = false,
    outcomes = false,
    nested = false,
    sort = "time",
    since,
    until,
    limit,
    cursor,
    machineMade = false,
    metadata,
    ...filter
  } = checkInput(input, "options", INPUTS.listSessions);
  const stored = Object.entries(defined(filter)).map(([name, value]) => {
    return [name, toStored(value, name)] as const;
  });
  const { since: from, until: to } = checkPeriod({ since, until });
  const wanted: SessionFilter = {
    ...Object.fromEntries(stored),
    ...(metadata === undefined ? {} : { metadata: checkWanted(metadata) }),
    ...(machineMade ? {} : { machineMade: false }),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  };
  const chosen =
    nested && wanted.subAgent === undefined && wanted.parentSessionId === undefined
      ? { ...wanted, subAgent: 0 }
      : wanted;
  const page = await readPage(engine, chosen, { sort, nested, limit: checkLimit(limit), cursor });
  const sessions = await withParents(engine, page.sessions);
  const { repeats, nextCursor } = page;
  const notes = sessions.length === 0 ? await suggestFilters(engine, { ...wanted }) : [];
  return {
    sessions,
    ...(costs ? { costs: await readCosts(engine, sessions) } : {}),
    ...(outcomes ? { outcomes: await readOutcomes(engine, sessions) } : {}),
    ...(nested ? { nested: await readNested(engine, sessions, repeats) } : {}),
    ...(notes.length === 0 ? {} : { notes }),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

interface Page {
  readonly sessions: readonly Session[];
  readonly repeats?: ReadonlyMap<string, readonly string[]>;
  readonly nextCursor?: string;
}

async function readPage(
  engine: EngineContext,
  filter: SessionFilter,
  {
    sort,
    nested,
    limit,
    cursor,
  }: {
    readonly sort: SessionOrder;
    readonly nested: boolean;
    readonly limit: number;
    readonly cursor: string | undefined;
  },
): Promise<Page> {
  if (sort !== "time") {
    const all = await sortSessions(engine, filter, sort, (each) => readCosts(engine, each));
    const offset = cursor === undefined ? 0 : parseOffsetCursor(cursor);
    const sessions = all.slice(offset, offset + limit);
    const end = offset + sessions.length;
    return { sessions, ...(end < all.length ? { nextCursor: formatOffsetCursor(end) } : {}) };
  }
  const after = cursor === undefined ? undefined : parsePageCursor(cursor);
  const page = nested
    ? await listRows(engine, filter, limit, after)
    : await engine.store.listSessions(engine.tenant, filter, { limit, ...defined({ after }) });
  const { next, ...rows } = page;
  return { ...rows, ...(next === undefined ? {} : { nextCursor: formatPageCursor(next) }) };
}

async function readNested(
  engine: EngineContext,
  sessions: readonly Session[],
  repeats: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<ReadonlyMap<string, Nested>> {
  const counts = await countSubAgents(engine, sessions);
  const nested = sessions.map(({ id }) => {
    const row = { subAgents: counts.get(id) ?? 0, repeats: repeats.get(id) ?? [] };
    return [id, row] as const;
  });
  return new Map(nested);
}

async function readCosts(
  engine: EngineContext,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, number>> {
  const usage = await readPricedUsage(engine, sessions, engine.prices());
  const costs = [...usage].map(
    ([id, sums]) => [id, sums.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0)] as const,
  );
  return new Map(costs);
}

/** The limit of metadata fields in a filter. */
const MAX_WANTED = 16;

function checkWanted(metadata: MetadataFilter): MetadataFilter {
  const fields = Object.entries(metadata);
  if (fields.length > MAX_WANTED) {
    throw tooLarge("metadata", MAX_WANTED, fields.length, "ask for fewer fields");
  }
  for (const [name, value] of fields) {
    checkKey(name, "metadata");
    if (typeof value === "string") checkKey(value, `metadata.${name}`);
    else if (typeof value !== "boolean" && !Number.isFinite(value)) {
      throw invalid(
        `metadata.${name}`,
        `metadata.${name} must be a string, a number, true or false, not ${describe(value)}`,
      );
    }
  }
  return Object.fromEntries(fields);
}

export type TextScope = Pick<SearchInput, FiltersOf<"trace"> | "since" | "until">;

export async function findSessionsWithText(
  { store, tenant }: EngineContext,
  run: TextRun,
  input: TextScope,
): Promise<readonly string[]> {
  const { since, until } = checkPeriod(input);
  const request = {
    run,
    scope: toScope(input),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until: until - 1 }),
  };
  const found = new Set<string>();
  let after: TextPlace | undefined;
  do {
    const page = await store.findSessionsWithText(
      tenant,
      after === undefined ? request : { ...request, after },
    );
    for (const id of page.sessions) found.add(id);
    after = page.next;
  } while (after !== undefined);
  return [...found];
}

export interface PricedSum extends UsageSum {
  readonly costMicroUsd: number;
  /** Whether the model has a name and tokens, but no price. */
  readonly isUnknown: boolean;
}

function priceUsage(
  { metadata }: Pick<Session, "metadata">,
  sums: readonly UsageSum[],
  prices: PriceTable,
): readonly PricedSum[] {
  const hours = metadata[HOUR_CACHE_KEY];
  const written = new Map<string | null, number>();
  for (const { model, usage } of sums) {
    written.set(model, (written.get(model) ?? 0) + usage.cacheCreationTokens);
  }
  return sums.map((sum) => {
    const { model, usage } = sum;
    const name = model ?? "";
    const price = priceOf(name, prices);
    const hour = isPlainObject(hours) && Object.hasOwn(hours, name) ? Number(hours[name]) : 0;
    // The session knows the sum of each model: its share is the same at all times.
    const share = hour > 0 ? Math.min(1, hour / (written.get(model) || 1)) : 0;
    const costMicroUsd =
      price === undefined ? 0 : costOf(usage, price, usage.cacheCreationTokens * share);
    const isUnknown = price === undefined && name !== "" && totalTokens(usage) > 0;
    return { ...sum, costMicroUsd, isUnknown };
  });
}

/** The usage of several sessions with its cost, by the session's id. */
export async function readPricedUsage(
  { store, tenant }: EngineContext,
  sessions: readonly Session[],
  prices: PriceTable,
): Promise<ReadonlyMap<string, readonly PricedSum[]>> {
  const ids = sessions.map(({ id }) => id);
  const sums = Map.groupBy(await store.readUsage(tenant, ids), ({ sessionId }) => sessionId);
  const priced = sessions.map(
    (session) => [session.id, priceUsage(session, sums.get(session.id) ?? [], prices)] as const,
  );
  return new Map(priced);
}
