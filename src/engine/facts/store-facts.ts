/** Stores new facts and supersedes old ones in one transaction. */

import type { PreparedFact } from "../../facts/prepare-facts.ts";
import {
  keyOf,
  type Retirement,
  reconcileFacts,
  settleAcross,
  settleFacts,
} from "../../facts/reconcile.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import { contentWords } from "../../search/query/content-words.ts";
import type { EngineContext } from "../engine-context.ts";
import { searchFactsOf } from "../search.ts";

export interface StoredFacts {
  /** The new ones, in order. */
  readonly facts: readonly Fact[];
  /** Superseded facts. */
  readonly retired: readonly Retirement[];
  readonly duplicates: number;
  readonly unsupported: number;
}

export async function storeFacts(
  engine: EngineContext,
  sessionId: string,
  proposed: readonly PreparedFact[],
): Promise<StoredFacts> {
  // Current facts may have changed since they were read, so they are read again.
  const held = await listHeld(engine, sessionId);
  const { added, isMany, ...counts } = reconcileFacts(proposed, held, () => engine.newId());
  if (added.length === 0) return { facts: [], retired: [], ...counts };
  const now = engine.now();
  const across = await settleOwner(engine, sessionId, added, isMany);
  const rows = added.map((fact) => {
    const old = across.filter(({ by }) => by === fact.id).map(({ id }) => id);
    return { ...fact, supersedes: [...fact.supersedes, ...old], sessionId, createdAt: now };
  });
  const facts = await engine.store.addFacts(engine.tenant, sessionId, rows, now);
  const late = across.filter(({ id }) => added.some((fact) => fact.id === id));
  for (const { id, by } of late) await engine.store.retireFact(engine.tenant, id, by, now);
  const settled = [...late, ...(await settle(engine, sessionId, facts, held, isMany))];
  const replaced = rows.flatMap(({ id, supersedes }) =>
    supersedes.map((old) => ({ id: old, by: id })),
  );
  return {
    facts: withRetirements(facts, settled),
    retired: [...replaced, ...settled],
    ...counts,
  };
}

/** Facts of the same words that are compared, of all sessions of the owner. */
const MAX_RIVALS = 50;

/** Compares cited facts with those of the owner's other sessions. */
async function settleOwner(
  engine: EngineContext,
  sessionId: string,
  added: ReturnType<typeof reconcileFacts>["added"],
  isMany: (key: string) => boolean,
): Promise<readonly Retirement[]> {
  const { store, tenant } = engine;
  const session = await store.findSession(tenant, sessionId);
  if (session === undefined) return [];
  const scope = { owner: [session.owner], excludeSession: [sessionId] };
  const replaced = new Set(added.flatMap(({ supersedes }) => supersedes));
  const cited = added.filter(({ id, sourceEntry }) => sourceEntry !== null && !replaced.has(id));
  const rivals = new Map<string, Fact>();
  for (const [key, [fact]] of Map.groupBy(cited, keyOf)) {
    if (fact === undefined || isMany(key)) continue;
    const words = contentWords(`${fact.subject} ${fact.predicate}`.slice(0, MAX_RIVAL_QUERY));
    for (const other of await searchFactsOf(engine, words, MAX_RIVALS, scope)) {
      if (other.supersededBy === null && keyOf(other) === key) rivals.set(other.id, other);
    }
  }
  if (rivals.size === 0) return [];
  const others = [...rivals.values()];
  const sources = [...cited, ...others].flatMap(({ sourceEntry }) => sourceEntry ?? []);
  const { entries } = await store.findEntries(tenant, sources, false);
  const times = new Map(entries.map(({ id, createdAt }) => [id, createdAt]));
  const now = engine.now();
  return settleAcross(
    cited.map((fact) => ({ ...fact, sessionId, saidAt: times.get(fact.sourceEntry ?? "") ?? now })),
    others.map((fact) => ({
      ...fact,
      saidAt: times.get(fact.sourceEntry ?? "") ?? fact.createdAt,
    })),
    isMany,
  );
}

/** A longer subject is recognised by its beginning. */
const MAX_RIVAL_QUERY = 400;

/** The session's current facts, by id. */
export async function listHeld(engine: EngineContext, sessionId: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const after = facts.at(-1)?.id;
    const page = await engine.store.listFacts(engine.tenant, sessionId, after, MAX_PAGE, false);
    facts.push(...page);
    if (page.length < MAX_PAGE) return facts;
  }
}

export function withRetirements(
  facts: readonly Fact[],
  retired: readonly Retirement[],
): readonly Fact[] {
  const by = new Map(retired.map((retirement) => [retirement.id, retirement.by]));
  return facts.map((fact) => {
    const supersededBy = by.get(fact.id);
    return supersededBy === undefined ? fact : { ...fact, supersededBy };
  });
}

/** Another process may have added the same meanwhile: see `settleFacts`. */
async function settle(
  engine: EngineContext,
  sessionId: string,
  added: readonly Fact[],
  before: readonly Fact[],
  isMany: (key: string) => boolean,
): Promise<readonly Retirement[]> {
  const seen = new Set(before.map(({ id }) => id));
  const held = await listHeld(engine, sessionId);
  const retirements = settleFacts(added, held, seen, isMany);
  for (const { id, by } of retirements) {
    await engine.store.retireFact(engine.tenant, id, by, engine.now());
  }
  return retirements;
}
