/**
 * Maps a page of the change feed to vector operations. Pure.
 *
 * Only the last change of each entry and fact counts, so one that is added and deleted within a
 * page is never embedded.
 */

import type { Change } from "../../model/change.ts";
import type { VectorTarget } from "../../model/embedder.ts";

export interface VectorTasks {
  /** Ids of messages and facts that may have text to embed, in order. */
  readonly messages: readonly string[];
  readonly facts: readonly string[];
  readonly deletions: readonly VectorTarget[];
}

export function vectorTasks(tenant: string, changes: readonly Change[]): VectorTasks {
  const messages = new Map<string, string>();
  const facts = new Map<string, string>();
  const deletions = new Map<string, VectorTarget>();

  const forgetEntry = (sessionId: string, entryId: string) => {
    messages.delete(entryId);
    deletions.set(`entry ${entryId}`, { tenant, sessionId, entryId });
  };
  const forgetFact = (sessionId: string, factId: string) => {
    facts.delete(factId);
    deletions.set(`fact ${factId}`, { tenant, sessionId, factId });
  };
  const forgetSession = (sessionId: string) => {
    for (const kind of [messages, facts]) {
      for (const [id, session] of kind) if (session === sessionId) kind.delete(id);
    }
    for (const [key, target] of deletions) {
      if (target.sessionId === sessionId) deletions.delete(key);
    }
    deletions.set(`session ${sessionId}`, { tenant, sessionId });
  };

  for (const { kind, sessionId, entryId, details } of changes) {
    if (sessionId === null) continue;
    const fact = typeof details["fact"] === "string" ? details["fact"] : undefined;
    // A newer version may have other kinds.
    switch (kind as string) {
      case "entry_appended":
        // The change of a message leaves its kind out.
        if (entryId !== null && details["kind"] === undefined) messages.set(entryId, sessionId);
        break;
      case "fact_added":
        if (fact !== undefined) facts.set(fact, sessionId);
        break;
      case "fact_superseded":
      case "fact_deleted":
        if (fact !== undefined) forgetFact(sessionId, fact);
        break;
      case "content_erased":
        for (const id of erasedIds(details, entryId)) forgetEntry(sessionId, id);
        break;
      case "session_deleted":
        forgetSession(sessionId);
        break;
    }
  }
  return {
    messages: [...messages.keys()],
    facts: [...facts.keys()],
    deletions: [...deletions.values()],
  };
}

function erasedIds(details: Change["details"], entryId: string | null): readonly string[] {
  const { ids } = details;
  if (Array.isArray(ids)) return ids.filter((id) => typeof id === "string");
  return entryId === null ? [] : [entryId];
}
