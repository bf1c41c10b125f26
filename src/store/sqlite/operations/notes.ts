/** Memories and facts. */

import type { Fact, Memory } from "../../../model/note.ts";
import { factChanges, noteChange } from "../../plan/new-changes.ts";
import type { NewFact, NewMemory } from "../../records.ts";
import { addedFacts, FACT_COLUMNS, toFact, toMemory } from "../../rows/note-row.ts";
import { factNotFound, memoryNotFound, sessionNotFound } from "../../store-errors.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, writeFeed } from "./feed.ts";
import { sessionNumber } from "./sessions.ts";

const SQL = statements("notes", {
  putMemory: `INSERT INTO memories (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = max(updated_at, excluded.updated_at)`,
  findMemory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND agent = ? AND name = ?`,
  deleteMemory: `DELETE FROM memories WHERE tenant = ? AND agent = ? AND name = ?`,
  listMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND (agent, name) > (?, ?) ORDER BY agent, name LIMIT ?`,
  listAgentMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND agent = ? AND name > ? ORDER BY name LIMIT ?`,
  addFact: `INSERT INTO facts (tenant, id, session, subject, predicate, object, source_entry_id,
      confidence, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  findFact: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.id = ?`,
  listFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.id > ? AND (? OR f.superseded_by IS NULL) ORDER BY f.id LIMIT ?`,
  listSessionFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.session = ? AND f.id > ? AND (? OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT ?`,
  supersedeFact: `UPDATE facts SET superseded_by = ? WHERE tenant = ? AND id = ?`,
  deleteFact: `DELETE FROM facts WHERE tenant = ? AND id = ?`,
});

export function putMemory(db: SqliteConnection, tenantName: string, memory: NewMemory): Memory {
  const { agent, name, content, now } = memory;
  const tenant = ensureTenant(db, tenantName, now);
  const metadata = Buffer.from(JSON.stringify(memory.metadata));
  // As JSON text: a note may hold any string, lone surrogates included.
  db.run(
    SQL.putMemory,
    tenant,
    agent,
    name,
    Buffer.from(JSON.stringify(content)),
    metadata,
    now,
    now,
  );
  writeFeed(db, tenant, [noteChange("memory_put", null, now, { agent, name })]);
  return toMemory(db.get(SQL.findMemory, tenant, agent, name) as SqlRow);
}

export function deleteMemory(
  db: SqliteConnection,
  tenantName: string,
  agent: string,
  name: string,
  now: number,
): void {
  const tenant = findTenant(db, tenantName);
  if (tenant === undefined || db.run(SQL.deleteMemory, tenant, agent, name) === 0) {
    throw memoryNotFound(agent, name);
  }
  writeFeed(db, tenant, [noteChange("memory_deleted", null, now, { agent, name })]);
}

export function findMemory(
  db: SqliteConnection,
  tenantName: string,
  agent: string,
  name: string,
): Memory | undefined {
  const tenant = findTenant(db, tenantName);
  const row = tenant === undefined ? undefined : db.get(SQL.findMemory, tenant, agent, name);
  return row === undefined ? undefined : toMemory(row);
}

export function listMemories(
  db: SqliteConnection,
  tenantName: string,
  agent: string | undefined,
  after: { readonly agent: string; readonly name: string } | undefined,
  limit: number,
): Memory[] {
  const tenant = findTenant(db, tenantName);
  if (tenant === undefined) return [];
  const rows =
    agent === undefined
      ? db.all(SQL.listMemories, tenant, after?.agent ?? "", after?.name ?? "", limit)
      : db.all(SQL.listAgentMemories, tenant, agent, after?.name ?? "", limit);
  return rows.map(toMemory);
}

export function addFacts(
  db: SqliteConnection,
  name: string,
  sessionId: string,
  facts: readonly NewFact[],
  now: number,
): Fact[] {
  const tenant = findTenant(db, name);
  const session = sessionNumber(db, tenant, sessionId);
  if (tenant === undefined) throw sessionNotFound(sessionId);
  for (const fact of facts) {
    const { subject, predicate, object, sourceEntry, confidence, createdAt } = fact;
    db.run(
      SQL.addFact,
      tenant,
      fact.id,
      session,
      subject,
      predicate,
      object,
      sourceEntry,
      confidence,
      createdAt,
    );
  }
  for (const { id, supersedes = [] } of facts) {
    for (const old of supersedes) {
      if (db.run(SQL.supersedeFact, id, tenant, old) === 0) throw factNotFound(old);
    }
  }
  writeFeed(db, tenant, factChanges(sessionId, facts, now));
  return addedFacts(sessionId, facts);
}

export function retireFact(
  db: SqliteConnection,
  name: string,
  id: string,
  by: string | null,
  now: number,
): void {
  const tenant = findTenant(db, name);
  const fact = findFact(db, name, id);
  if (tenant === undefined || fact === undefined) throw factNotFound(id);
  if (by === null) {
    db.run(SQL.deleteFact, tenant, id);
    writeFeed(db, tenant, [noteChange("fact_deleted", fact.sessionId, now, { fact: id })]);
    return;
  }
  if (findFact(db, name, by) === undefined) throw factNotFound(by);
  db.run(SQL.supersedeFact, by, tenant, id);
  writeFeed(db, tenant, [noteChange("fact_superseded", fact.sessionId, now, { fact: id, by })]);
}

export function findFact(db: SqliteConnection, name: string, id: string): Fact | undefined {
  const tenant = findTenant(db, name);
  const row = tenant === undefined ? undefined : db.get(SQL.findFact, tenant, id);
  return row === undefined ? undefined : toFact(row);
}

export function listFacts(
  db: SqliteConnection,
  name: string,
  sessionId: string | undefined,
  after: string | undefined,
  limit: number,
  superseded: boolean,
): Fact[] {
  const tenant = findTenant(db, name);
  if (sessionId !== undefined) {
    const session = sessionNumber(db, tenant, sessionId);
    return db
      .all(SQL.listSessionFacts, tenant ?? 0, session, after ?? "", superseded ? 1 : 0, limit)
      .map(toFact);
  }
  if (tenant === undefined) return [];
  return db.all(SQL.listFacts, tenant, after ?? "", superseded ? 1 : 0, limit).map(toFact);
}
