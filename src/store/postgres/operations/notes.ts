/** Memories and facts. */

import type { Fact, Memory } from "../../../model/note.ts";
import { factChanges, noteChange } from "../../plan/new-changes.ts";
import type { NewFact, NewMemory, Row } from "../../records.ts";
import { addedFacts, FACT_COLUMNS, toFact, toMemory } from "../../rows/note-row.ts";
import { factNotFound, memoryNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant, writeFeed } from "./feed.ts";
import { lockSession, stateQuery, toState } from "./session-state.ts";

const SQL = statements("notes", {
  putMemory: `INSERT INTO memories AS m
      (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = greatest(m.updated_at, excluded.updated_at)
    RETURNING agent, name, content, metadata, created_at, updated_at`,
  findMemory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name = $3`,
  deleteMemory: `DELETE FROM memories WHERE tenant = $1 AND agent = $2 AND name = $3
    RETURNING name`,
  listMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND (agent, name) > ($2, $3) ORDER BY agent, name LIMIT $4`,
  listAgentMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name > $3 ORDER BY name LIMIT $4`,
  addFacts: `INSERT INTO facts (tenant, session, id, subject, predicate, object, source_entry_id,
      confidence, created_at)
    SELECT $1::bigint, $2::bigint, added.* FROM unnest($3::text[], $4::text[], $5::text[],
      $6::text[], $7::text[], $8::double precision[], $9::bigint[]) AS added`,
  findFact: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id = $2`,
  /** Locks in id order, to avoid deadlocks. */
  lockFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id = ANY ($2) ORDER BY f.id FOR UPDATE OF f`,
  listFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id > $2 AND ($3::int = 1 OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT $4`,
  listSessionFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND s.id = $2 AND f.id > $3
      AND ($4::int = 1 OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT $5`,
  supersedeFact: `UPDATE facts SET superseded_by = $3 WHERE tenant = $1 AND id = $2`,
  deleteFact: `DELETE FROM facts WHERE tenant = $1 AND id = $2`,
});

export async function putMemory(tx: Transaction, memory: NewMemory): Promise<Memory> {
  const { agent, name, content, metadata, now } = memory;
  await ensureTenant(tx, now);
  writeFeed(tx, [noteChange("memory_put", null, now, { agent, name })]);
  // As JSON text: a note may hold any string, lone surrogates included.
  const put = query(
    SQL.putMemory,
    tx.tenant,
    agent,
    name,
    Buffer.from(JSON.stringify(content)),
    Buffer.from(JSON.stringify(metadata)),
    now,
  );
  const [rows] = await tx.commit([put]);
  return toMemory(rows?.[0] as Row);
}

export async function deleteMemory(
  tx: Transaction,
  agent: string,
  name: string,
  now: number,
): Promise<void> {
  const deleted = await tx.get(SQL.deleteMemory, tx.tenant, agent, name);
  if (deleted === undefined) throw memoryNotFound(agent, name);
  writeFeed(tx, [noteChange("memory_deleted", null, now, { agent, name })]);
}

export async function findMemory(
  tx: Transaction,
  agent: string,
  name: string,
): Promise<Memory | undefined> {
  const row = await tx.get(SQL.findMemory, tx.tenant, agent, name);
  return row === undefined ? undefined : toMemory(row);
}

export async function listMemories(
  tx: Transaction,
  agent: string | undefined,
  after: { readonly agent: string; readonly name: string } | undefined,
  limit: number,
): Promise<Memory[]> {
  const name = after?.name ?? "";
  const rows =
    agent === undefined
      ? await tx.all(SQL.listMemories, tx.tenant, after?.agent ?? "", name, limit)
      : await tx.all(SQL.listAgentMemories, tx.tenant, agent, name, limit);
  return rows.map(toMemory);
}

export async function addFacts(
  tx: Transaction,
  sessionId: string,
  facts: readonly NewFact[],
  now: number,
): Promise<Fact[]> {
  const { number } = await lockSession(tx, sessionId);
  await lockSuperseded(tx, facts);
  tx.defer(
    SQL.addFacts,
    tx.tenant,
    number,
    facts.map((fact) => fact.id),
    facts.map((fact) => fact.subject),
    facts.map((fact) => fact.predicate),
    facts.map((fact) => fact.object),
    facts.map((fact) => fact.sourceEntry),
    facts.map((fact) => fact.confidence),
    facts.map((fact) => fact.createdAt),
  );
  for (const { id, supersedes = [] } of facts) {
    for (const old of supersedes) tx.defer(SQL.supersedeFact, tx.tenant, old, id);
  }
  writeFeed(tx, factChanges(sessionId, facts, now));
  return addedFacts(sessionId, facts);
}

/** Throws `fact_not_found` if a superseded fact does not exist. */
async function lockSuperseded(tx: Transaction, facts: readonly NewFact[]): Promise<void> {
  const own = new Set(facts.map((fact) => fact.id));
  const old = facts.flatMap((fact) => fact.supersedes ?? []).filter((id) => !own.has(id));
  if (old.length === 0) return;
  const rows = await tx.all(SQL.lockFacts, tx.tenant, old);
  const found = new Set(rows.map((row) => row["id"]));
  const missing = old.find((id) => !found.has(id));
  if (missing !== undefined) throw factNotFound(missing);
}

export async function retireFact(
  tx: Transaction,
  id: string,
  by: string | null,
  now: number,
): Promise<void> {
  const rows = await tx.all(SQL.lockFacts, tx.tenant, by === null ? [id] : [id, by]);
  const found = new Map(rows.map(toFact).map((fact) => [fact.id, fact]));
  const fact = found.get(id);
  if (fact === undefined) throw factNotFound(id);
  if (by === null) {
    tx.defer(SQL.deleteFact, tx.tenant, id);
    writeFeed(tx, [noteChange("fact_deleted", fact.sessionId, now, { fact: id })]);
    return;
  }
  if (!found.has(by)) throw factNotFound(by);
  tx.defer(SQL.supersedeFact, tx.tenant, id, by);
  writeFeed(tx, [noteChange("fact_superseded", fact.sessionId, now, { fact: id, by })]);
}

export async function findFact(tx: Transaction, id: string): Promise<Fact | undefined> {
  const row = await tx.get(SQL.findFact, tx.tenant, id);
  return row === undefined ? undefined : toFact(row);
}

export async function listFacts(
  tx: Transaction,
  sessionId: string | undefined,
  after: string | undefined,
  limit: number,
  superseded: boolean,
): Promise<Fact[]> {
  const all = superseded ? 1 : 0;
  if (sessionId === undefined) {
    const rows = await tx.all(SQL.listFacts, tx.tenant, after ?? "", all, limit);
    return rows.map(toFact);
  }
  const [state, rows = []] = await tx.together([
    stateQuery(tx, sessionId),
    query(SQL.listSessionFacts, tx.tenant, sessionId, after ?? "", all, limit),
  ]);
  toState(state, sessionId);
  return rows.map(toFact);
}
