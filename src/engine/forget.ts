/**
 * Finds and deletes data derived from a session.
 *
 * Deleting a session deletes its entries, summaries, facts and payloads. Copies may remain
 * elsewhere: in forks and in memories.
 */

import type { DERIVED, TOMBSTONE } from "../model/answers/store.ts";
import { type Entry, kindRules } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Memory } from "../model/note.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { Tombstone as TombstoneRecord } from "../store/records.ts";
import { sessionNotFound } from "../store/store-errors.ts";
import { toHex } from "../transcript/hash.ts";
import { checkInput, checkKey } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";
import { getEntry } from "./read.ts";

export interface Derived extends FieldsOf<typeof DERIVED> {}

/** The tombstone of a deleted session. */
export interface Tombstone extends FieldsOf<typeof TOMBSTONE> {}

export function toTombstone({ digest, ...record }: TombstoneRecord): Tombstone {
  return { ...record, digest: toHex(digest) };
}

export interface DeleteOptions {
  /** Also deletes its forks and memories. */
  readonly cascade?: boolean;
}

export async function listDerived(engine: EngineContext, sessionId: string): Promise<Derived> {
  const { store, tenant } = engine;
  const session = await store.findSession(tenant, checkKey(sessionId, "sessionId"));
  if (session === undefined) throw sessionNotFound(sessionId);
  return {
    forks: await findForks(engine, sessionId),
    memories: await findMemories(engine, sessionId),
    facts: await countFacts(engine, sessionId),
    hasSummary: session.summary !== null,
  };
}

/** Deletes the session; with `cascade` first its derivatives, the farthest fork first. */
export async function deleteSession(
  engine: EngineContext,
  sessionId: string,
  options: DeleteOptions = {},
): Promise<Tombstone> {
  checkInput(options, "options", INPUTS.deleteSession);
  const { store, tenant } = engine;
  if (options.cascade) {
    const { forks, memories } = await listDerived(engine, sessionId);
    for (const fork of forks.toReversed()) {
      await store.deleteSession(tenant, fork, "cascade", engine.now(), engine.by);
    }
    for (const { agent, name } of memories) {
      await store.deleteMemory(tenant, agent, name, engine.now());
    }
  }
  const id = checkKey(sessionId, "sessionId");
  return toTombstone(await store.deleteSession(tenant, id, "delete", engine.now(), engine.by));
}

/** Direct and indirect forks, nearest first. */
export async function findForks(engine: EngineContext, sessionId: string): Promise<string[]> {
  const forks: string[] = [];
  const parents = [sessionId];
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    const filter = { parentSessionId: parent };
    let after: { lastInteractionAt: number; number: number } | undefined;
    do {
      const page = { limit: MAX_PAGE, ...(after === undefined ? {} : { after }) };
      const found = await engine.store.listSessions(engine.tenant, filter, page);
      // The filter also finds what an agent started or went on with: sessions of their own.
      const made = found.sessions.filter(({ parentSessionId }) => parentSessionId === parent);
      const ids = made.map(({ id }) => id);
      forks.push(...ids);
      parents.push(...ids);
      after = found.next;
    } while (after !== undefined);
  }
  return forks;
}

async function findMemories(
  engine: EngineContext,
  sessionId: string,
): Promise<Pick<Memory, "agent" | "name">[]> {
  const memories: Pick<Memory, "agent" | "name">[] = [];
  let after: Pick<Memory, "agent" | "name"> | undefined;
  for (;;) {
    const page = await engine.store.listMemories(engine.tenant, undefined, after, MAX_PAGE);
    for (const { agent, name, metadata } of page) {
      if (metadata["sessionId"] === sessionId) memories.push({ agent, name });
    }
    after = page.at(-1);
    if (page.length < MAX_PAGE) return memories;
  }
}

async function countFacts(engine: EngineContext, sessionId: string): Promise<number> {
  let count = 0;
  let after: string | undefined;
  for (;;) {
    const page = await engine.store.listFacts(engine.tenant, sessionId, after, MAX_PAGE, true);
    count += page.length;
    after = page.at(-1)?.id;
    if (page.length < MAX_PAGE) return count;
  }
}

/**
 * Gives the tombstone, with the entry's place and hash, so that the session can still be verified.
 * Throws `invalid_input` for an entry that others depend on, and for an open message.
 */
export async function removeEntry(engine: EngineContext, entry: Entry): Promise<Entry> {
  const { store, tenant, by } = engine;
  const { id, sessionId, kind, status } = entry;
  if (status === "pending") {
    throw refused(id, "is still being written; abort it first");
  }
  if (!kindRules(kind).erasable) {
    throw refused(id, `is a ${kind} entry; only messages and extensions' entries can be removed`);
  }
  engine.contextSizes.forget(tenant, sessionId);
  await store.eraseContent(tenant, {
    sessionId,
    entryIds: [id],
    mode: "ephemeral",
    isRemoval: true,
    now: engine.now(),
    ...(by === undefined ? {} : { by }),
  });
  return getEntry(engine, id);
}

function refused(entryId: string, why: string): BackscrollError {
  return new BackscrollError("invalid_input", `entry ${entryId} ${why}`, {
    details: { field: "entryId", entryId },
  });
}
