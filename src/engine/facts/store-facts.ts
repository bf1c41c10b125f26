/** Stores new facts and supersedes old ones in one transaction. */

import type { PreparedFact } from "../../facts/prepare-facts.ts";
import { type Retirement, reconcileFacts, settleFacts } from "../../facts/reconcile.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import type { EngineContext } from "../engine-context.ts";

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
  const rows = added.map((fact) => ({ ...fact, sessionId, createdAt: now }));
  const facts = await engine.store.addFacts(engine.tenant, sessionId, rows, now);
  const settled = await settle(engine, sessionId, facts, held, isMany);
  const replaced = added.flatMap(({ id, supersedes }) =>
    supersedes.map((old) => ({ id: old, by: id })),
  );
  return {
    facts: withRetirements(facts, settled),
    retired: [...replaced, ...settled],
    ...counts,
  };
}

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
