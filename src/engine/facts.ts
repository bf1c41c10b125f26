/** Facts: statements kept beside the conversation that they were taken from. */

import { checkText } from "../model/ids.ts";
import { MAX_FACT_BYTES } from "../model/limits.ts";
import type { Fact } from "../model/note.ts";
import { factNotFound } from "../store/store-errors.ts";
import { checkInput, checkKey, checkLimit, checkList, invalid } from "./check.ts";
import type { Scope } from "./scope.ts";

export interface FactInput {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** The entry that it was taken from. */
  readonly sourceEntry?: string;
  /** From 0 to 1; 1 if left out. */
  readonly confidence?: number;
}

export interface ListFactsInput {
  readonly sessionId?: string;
  /** The last fact of the page before. */
  readonly after?: string;
  readonly limit?: number;
  /** Also those that a later fact has replaced. */
  readonly superseded?: boolean;
}

export async function addFacts(
  scope: Scope,
  sessionId: string,
  facts: readonly FactInput[],
): Promise<readonly Fact[]> {
  const now = scope.now();
  const rows = checkList(facts, "facts").map((input, i) => {
    const fact = checkInput(input, `facts[${i}]`);
    return {
      id: scope.newId(),
      sessionId,
      subject: checkStatement(fact.subject, `facts[${i}].subject`),
      predicate: checkStatement(fact.predicate, `facts[${i}].predicate`),
      object: checkStatement(fact.object, `facts[${i}].object`),
      sourceEntry:
        fact.sourceEntry === undefined
          ? null
          : checkKey(fact.sourceEntry, `facts[${i}].sourceEntry`),
      confidence: checkConfidence(fact.confidence ?? 1, `facts[${i}].confidence`),
      createdAt: now,
    };
  });
  if (rows.length === 0) throw invalid("facts", "facts is empty; add at least one");
  return scope.store.addFacts(scope.tenant, sessionId, rows, now);
}

export async function getFact(scope: Scope, id: string): Promise<Fact> {
  const fact = await scope.store.findFact(scope.tenant, checkKey(id, "id"));
  if (fact === undefined) throw factNotFound(id);
  return fact;
}

export async function listFacts(scope: Scope, input: ListFactsInput): Promise<readonly Fact[]> {
  const { sessionId, after, superseded = false } = input;
  if (sessionId !== undefined) checkKey(sessionId, "sessionId");
  if (after !== undefined) checkKey(after, "after");
  return scope.store.listFacts(scope.tenant, sessionId, after, checkLimit(input.limit), superseded);
}

function checkStatement(value: string, field: string): string {
  const text = checkText(value, field, MAX_FACT_BYTES);
  if (text.trim() === "") throw invalid(field, `${field} must not be empty`);
  return text;
}

function checkConfidence(value: number, field: string): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw invalid(field, `${field} must be a number from 0 to 1`);
}
