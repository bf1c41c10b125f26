/**
 * Facets: the number of sessions of a list or a search by filter value.
 *
 * A list counts its newest 10,000 sessions, a search its best 100.
 */

import type { FACET_COUNT, FACETS } from "../../model/answers/store.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import type { FiltersOf } from "../../model/session-filters.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { checkInput, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type SearchInput, searchSessions } from "../search.ts";
import { type ListSessionsInput, listSessions } from "./list-sessions.ts";

export interface FacetsInput
  extends Pick<ListSessionsInput, FiltersOf<"facets"> | "since" | "until">,
    Pick<SearchInput, "asYouType" | "machineMade" | "branches" | "signal"> {
  /** Counts the hits of a search. Default: a list. */
  readonly query?: string;
  /** The role of the found message. Needs a query, as do `branches` and `asYouType`. */
  readonly role?: string;
}

/** Fields without a meaning for a list. */
const OF_SEARCH = ["role", "branches", "asYouType"] as const;

export interface FacetCount extends FieldsOf<typeof FACET_COUNT> {}

/** At most 50 values per filter, most frequent first. */
export interface Facets extends FieldsOf<typeof FACETS> {}

const MAX_LISTED = 10_000;
const MAX_FOUND = 100;
const MAX_VALUES = 50;
const AGES: readonly (readonly [name: string, days: number])[] = [
  ["1d", 1],
  ["7d", 7],
  ["30d", 30],
  ["365d", 365],
];

export async function countFacets(engine: EngineContext, input: FacetsInput): Promise<Facets> {
  const { query, ...filter } = checkInput(input, "options", INPUTS.facets);
  const tally = new FacetTally(engine.now());
  const more =
    query === undefined
      ? await countListed(engine, filter, tally)
      : await countFound(engine, query, filter, tally);
  return tally.facets(more);
}

async function countListed(
  engine: EngineContext,
  input: Omit<FacetsInput, "query">,
  tally: FacetTally,
): Promise<boolean> {
  for (const field of OF_SEARCH) {
    if (input[field] === undefined) continue;
    throw invalid(field, `${field} is for a search; give a query as well, or leave ${field} out`);
  }
  const { signal, ...filter } = input;
  let cursor: string | undefined;
  for (let read = 0; read < MAX_LISTED; read += MAX_PAGE) {
    signal?.throwIfAborted();
    const page = await listSessions(engine, {
      ...filter,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    await addSessions(engine, page.sessions, tally);
    cursor = page.nextCursor;
    if (cursor === undefined) return false;
  }
  return true;
}

async function countFound(
  engine: EngineContext,
  query: string,
  filter: Omit<FacetsInput, "query">,
  tally: FacetTally,
): Promise<boolean> {
  const input = { ...filter, limit: MAX_FOUND, contextBefore: 0, contextAfter: 0 };
  const { hits, partial } = await searchSessions(engine, query, input, { maxHits: MAX_FOUND });
  const sessions = await Promise.all(
    hits.map(({ sessionId }) => engine.store.findSession(engine.tenant, sessionId)),
  );
  for (const { window } of hits) {
    const role = window.find(({ found }) => found)?.role;
    if (role !== undefined && role !== null) tally.add("role", role);
  }
  await addSessions(
    engine,
    sessions.filter((session) => session !== undefined),
    tally,
  );
  return partial || hits.length === MAX_FOUND;
}

async function addSessions(
  { store, tenant }: EngineContext,
  sessions: readonly Session[],
  tally: FacetTally,
): Promise<void> {
  for (const session of sessions) tally.addSession(session);
  const models = await store.countModels(
    tenant,
    sessions.map(({ id }) => id),
  );
  for (const { model, sessions: count } of models) tally.add("model", model, count);
}

const NAMES = ["agent", "project", "workstation", "repo", "source", "model", "role"] as const;
type FacetName = (typeof NAMES)[number];
type Named = Record<FacetName, FacetCount[]>;

class FacetTally {
  readonly #now: number;
  #sessions = 0;
  readonly #counts = new Map<FacetName, Map<string, number>>();
  readonly #ages = new Map<string, number>(AGES.map(([name]) => [name, 0]));

  constructor(now: number) {
    this.#now = now;
  }

  addSession({ agent, origin, lastInteractionAt }: Session): void {
    this.#sessions++;
    this.add("agent", agent);
    this.add("project", origin.projectPath);
    this.add("workstation", origin.workstation);
    this.add("repo", origin.repo);
    this.add("source", origin.source);
    for (const [name, days] of AGES) {
      if (lastInteractionAt < this.#now - days * 86_400_000) continue;
      this.#ages.set(name, (this.#ages.get(name) ?? 0) + 1);
    }
  }

  add(name: FacetName, value: string | undefined, count = 1): void {
    if (value === undefined || value === "") return;
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    this.#counts.set(name, counts);
    counts.set(value, (counts.get(value) ?? 0) + count);
  }

  facets(more: boolean): Facets {
    return {
      sessions: this.#sessions,
      more,
      ...(Object.fromEntries(NAMES.map((name) => [name, this.#list(name)])) as Named),
      since: [...this.#ages].map(([value, count]) => ({ value, count })),
    };
  }

  #list(name: FacetName): FacetCount[] {
    return [...(this.#counts.get(name) ?? [])]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MAX_VALUES);
  }
}
