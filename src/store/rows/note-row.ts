/** Maps rows of `memories` and `facts`. */

import type { Fact, Memory } from "../../model/note.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { parseStored, storedObject, textOrNull } from "../damage/stored-json.ts";
import type { NewFact, Row } from "../records.ts";

/** From `facts` (f) and the fact's session (s). */
export const FACT_COLUMNS = `f.id, s.id AS session_id, f.subject, f.predicate, f.object,
  f.source_entry_id, f.confidence, f.created_at, f.superseded_by`;

export function toMemory(row: Row): Memory {
  const agent = String(row["agent"]);
  const name = String(row["name"]);
  const damaged = (cause: unknown) =>
    rowDamaged(`the memory ${name} of agent ${agent}`, "it is no JSON", cause);
  return {
    agent,
    name,
    content: String(parseStored(textOrNull(row["content"]) ?? '""', damaged)),
    metadata: storedObject(row["metadata"], damaged),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
  };
}

export function toFact(row: Row): Fact {
  return {
    id: String(row["id"]),
    sessionId: String(row["session_id"]),
    subject: String(row["subject"]),
    predicate: String(row["predicate"]),
    object: String(row["object"]),
    sourceEntry: row["source_entry_id"] as string | null,
    confidence: Number(row["confidence"]),
    createdAt: Number(row["created_at"]),
    supersededBy: row["superseded_by"] as string | null,
  };
}

/** The facts to store: one may supersede another of the same call. */
export function addedFacts(sessionId: string, facts: readonly NewFact[]): Fact[] {
  const by = new Map(
    facts.flatMap(({ id, supersedes = [] }) => supersedes.map((old) => [old, id])),
  );
  return facts.map(({ supersedes: _, ...fact }) => ({
    ...fact,
    sessionId,
    supersededBy: by.get(fact.id) ?? null,
  }));
}
