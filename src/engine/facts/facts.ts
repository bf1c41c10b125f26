/** Facts: statements stored with their session. */

import { keyOf, normalize } from "../../facts/reconcile.ts";
import { checkName } from "../../model/ids.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_FACT_BYTES } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import { entryNotFound, factNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey, checkLimit, checkList, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { listHeld } from "./store-facts.ts";

export interface FactInput {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** The source entry. */
  readonly sourceEntry?: string;
  /** From 0 to 1. Default 1. */
  readonly confidence?: number;
}

export interface ListFactsInput {
  readonly sessionId?: string;
  /** The last fact of the previous page. */
  readonly after?: string;
  readonly limit?: number;
  /** Includes superseded facts. */
  readonly superseded?: boolean;
  /** The minimum confidence, from 0 to 1. */
  readonly minConfidence?: number;
}

export async function addFacts(
  engine: EngineContext,
  sessionId: string,
  facts: readonly FactInput[],
): Promise<readonly Fact[]> {
  const now = engine.now();
  const rows = checkList(facts, "facts").map((input, i) => {
    const fact = checkPart(input, `facts[${i}]`, INPUTS.addFacts);
    return {
      id: engine.newId(),
      sessionId,
      subject: checkStatement(fact.subject, `facts[${i}].subject`),
      predicate: checkStatement(fact.predicate, `facts[${i}].predicate`),
      object: checkStatement(fact.object, `facts[${i}].object`),
      sourceEntry:
        fact.sourceEntry === undefined
          ? null
          : checkKey(fact.sourceEntry, `facts[${i}].sourceEntry`),
      confidence: fact.confidence ?? 1,
      createdAt: now,
    };
  });
  if (rows.length === 0) throw invalid("facts", "facts is empty; add at least one");
  await checkSources(engine, sessionId, rows);
  const held = new Map(
    (await listHeld(engine, sessionId)).map((fact): [string, Fact] => [statementOf(fact), fact]),
  );
  const added = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const statement = statementOf(row);
    if (!held.has(statement) && !added.has(statement)) added.set(statement, row);
  }
  if (added.size > 0) {
    const stored = await engine.store.addFacts(engine.tenant, sessionId, [...added.values()], now);
    for (const fact of stored) held.set(statementOf(fact), fact);
  }
  return rows.map((row) => held.get(statementOf(row)) as Fact);
}

/** Ignores case and spaces. */
function statementOf(fact: Pick<Fact, "subject" | "predicate" | "object">): string {
  return `${keyOf(fact)}\0${normalize(fact.object)}`;
}

/** A source must be an entry of the session. */
async function checkSources(
  { store, tenant }: EngineContext,
  sessionId: string,
  rows: readonly Pick<Fact, "sourceEntry">[],
): Promise<void> {
  const ids = [...new Set(rows.flatMap((row) => row.sourceEntry ?? []))];
  if (ids.length === 0) return;
  const { entries } = await store.findEntries(tenant, ids, false);
  const own = new Set(entries.filter((each) => each.sessionId === sessionId).map(({ id }) => id));
  const missing = ids.find((id) => !own.has(id));
  if (missing !== undefined) throw entryNotFound(missing, sessionId);
}

export async function getFact(engine: EngineContext, id: string): Promise<Fact> {
  const fact = await engine.store.findFact(engine.tenant, checkKey(id, "id"));
  if (fact === undefined) throw factNotFound(id);
  return fact;
}

export async function listFacts(
  engine: EngineContext,
  input: ListFactsInput,
): Promise<readonly Fact[]> {
  const {
    sessionId,
    after,
    superseded = false,
    minConfidence: least = 0,
  } = checkInput(input, "options", INPUTS.listFacts);
  const limit = checkLimit(input.limit);
  const found: Fact[] = [];
  let last = after;
  for (;;) {
    const page = await engine.store.listFacts(engine.tenant, sessionId, last, limit, superseded);
    found.push(...page.filter(({ confidence }) => confidence >= least));
    last = page.at(-1)?.id;
    if (page.length < limit || found.length >= limit) return found.slice(0, limit);
  }
}

function checkStatement(value: string, field: string): string {
  return checkName(value, field, MAX_FACT_BYTES);
}
