/** Removes one entry permanently. */

import { type Entry, kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { EngineContext } from "../engine-context.ts";
import { getEntry } from "../read.ts";

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
