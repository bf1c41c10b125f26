/** Memories and facts. */

import type { Fact, Memory } from "../../model/note.ts";
import { factChanges, noteChange } from "../plan/new-changes.ts";
import type { NewFact, NewMemory, Row } from "../records.ts";
import { addedFacts, toFact, toMemory } from "../rows/note-row.ts";
import { factNotFound, memoryNotFound } from "../store-errors.ts";
import type { Program, ProgramPort } from "./port.ts";
import type { NOTES_SQL } from "./tables.ts";

type Port = ProgramPort<
  keyof typeof NOTES_SQL | "putMemory" | "addFacts" | "lockFacts" | "listFacts" | "listSessionFacts"
>;

export function* putMemory(port: Port, memory: NewMemory): Program<Memory> {
  const { agent, name, now } = memory;
  yield* port.ensureTenant(now);
  port.writeFeed([noteChange("memory_put", null, now, { agent, name })]);
  // As JSON text: a note may hold any string, lone surrogates included.
  const content = Buffer.from(JSON.stringify(memory.content));
  const metadata = Buffer.from(JSON.stringify(memory.metadata));
  const [row] = yield* port.last("putMemory", agent, name, content, metadata, now);
  return toMemory(row as Row);
}

export function* deleteMemory(port: Port, agent: string, name: string, now: number): Program<void> {
  const [deleted] = yield* port.rows("deleteMemory", agent, name);
  if (deleted === undefined) throw memoryNotFound(agent, name);
  port.writeFeed([noteChange("memory_deleted", null, now, { agent, name })]);
}

export function* findMemory(port: Port, agent: string, name: string): Program<Memory | undefined> {
  const [row] = yield* port.rows("findMemory", agent, name);
  return row === undefined ? undefined : toMemory(row);
}

export function* listMemories(
  port: Port,
  agent: string | undefined,
  after: { readonly agent: string; readonly name: string } | undefined,
  limit: number,
): Program<Memory[]> {
  const name = after?.name ?? "";
  const rows =
    agent === undefined
      ? yield* port.rows("listMemories", after?.agent ?? "", name, limit)
      : yield* port.rows("listAgentMemories", agent, name, limit);
  return rows.map(toMemory);
}

export function* addFacts(
  port: Port,
  sessionId: string,
  facts: readonly NewFact[],
  now: number,
): Program<Fact[]> {
  const session = yield* port.lockSession(sessionId);
  const superseded = facts.flatMap(({ id, supersedes = [] }) => supersedes.map((old) => [old, id]));
  const own = new Set(facts.map(({ id }) => id));
  const others = superseded.flatMap(([old = ""]) => (own.has(old) ? [] : [old]));
  if (others.length > 0) {
    const found = yield* lockFacts(port, others);
    const missing = others.find((id) => !found.has(id));
    if (missing !== undefined) throw factNotFound(missing);
  }
  const rows = facts.map((fact) => {
    const { id, subject, predicate, object, sourceEntry, confidence, createdAt } = fact;
    return [id, subject, predicate, object, sourceEntry, confidence, createdAt];
  });
  port.runEach("addFacts", [session], rows);
  for (const [old = "", id = ""] of superseded) port.run("supersedeFact", old, id);
  port.writeFeed(factChanges(sessionId, facts, now));
  return addedFacts(sessionId, facts);
}

export function* retireFact(port: Port, id: string, by: string | null, now: number): Program<void> {
  const found = yield* lockFacts(port, by === null ? [id] : [id, by]);
  const fact = found.get(id);
  if (fact === undefined) throw factNotFound(id);
  if (by === null) {
    port.run("deleteFact", id);
    port.writeFeed([noteChange("fact_deleted", fact.sessionId, now, { fact: id })]);
    return;
  }
  if (!found.has(by)) throw factNotFound(by);
  port.run("supersedeFact", id, by);
  port.writeFeed([noteChange("fact_superseded", fact.sessionId, now, { fact: id, by })]);
}

export function* findFact(port: Port, id: string): Program<Fact | undefined> {
  const [row] = yield* port.rows("findFact", id);
  return row === undefined ? undefined : toFact(row);
}

export function* listFacts(
  port: Port,
  sessionId: string | undefined,
  after: string | undefined,
  limit: number,
  superseded: boolean,
): Program<Fact[]> {
  const page = [after ?? "", superseded ? 1 : 0, limit];
  const rows =
    sessionId === undefined
      ? yield* port.rows("listFacts", ...page)
      : yield* port.rowsOfSession(sessionId, "listSessionFacts", ...page);
  return rows.map(toFact);
}

function* lockFacts(port: Port, ids: readonly string[]): Program<ReadonlyMap<string, Fact>> {
  const rows = yield* port.rows("lockFacts", ids);
  return new Map(rows.map(toFact).map((fact) => [fact.id, fact]));
}
