/** Feed changes of operations other than appends. */

import type { AccessToken } from "../../model/access.ts";
import type { ChangeAuthor } from "../../model/change.ts";
import type { JsonObject } from "../../model/json.ts";
import type { SessionRoute } from "../../model/route.ts";
import type { MoveLeafRequest, NewFact, Quota, SessionPatch, Tombstone } from "../records.ts";
import type { EraseRequest } from "../requests.ts";
import type { AppendPlan, NewChange } from "./plan-append.ts";

export function sessionCreated(sessionId: string, at: number): NewChange {
  return { kind: "session_created", at, sessionId, entryId: null, entryHash: null, details: null };
}

/** Names the fields of a patch, not their values. */
export function sessionUpdated(sessionId: string, patch: SessionPatch, at: number): NewChange {
  const details = JSON.stringify({ fields: Object.keys(patch).sort() });
  return { kind: "session_updated", at, sessionId, entryId: null, entryHash: null, details };
}

export function sessionDeleted(tombstone: Tombstone, by: ChangeAuthor | undefined): NewChange {
  const { sessionId, reason, entryCount, digest, deletedAt } = tombstone;
  const details = JSON.stringify({
    reason,
    entries: entryCount,
    digest: Buffer.from(digest).toString("hex"),
    ...authored(by),
  });
  return {
    kind: "session_deleted",
    at: deletedAt,
    sessionId,
    entryId: null,
    entryHash: null,
    details,
  };
}

export function leafMoved(request: MoveLeafRequest, from: string | null): NewChange {
  return {
    kind: "leaf_moved",
    at: request.now,
    sessionId: request.sessionId,
    entryId: request.leaf,
    entryHash: null,
    details: JSON.stringify({ from }),
  };
}

export function entryPinned(
  sessionId: string,
  entryId: string,
  pinned: boolean,
  at: number,
): NewChange {
  const kind = pinned ? "entry_pinned" : "entry_unpinned";
  return { kind, at, sessionId, entryId, entryHash: null, details: null };
}

/** Erased entries by id; for tombstones also the digests and sums for verification. */
export function contentErased(
  { sessionId, mode, now, by }: Pick<EraseRequest, "sessionId" | "mode" | "now" | "by">,
  ids: readonly string[],
  tombstones: { readonly tokens: number; readonly digest: string } | undefined,
): NewChange {
  const details = JSON.stringify({
    mode,
    entries: ids.length,
    ids,
    ...tombstones,
    ...authored(by),
  });
  return { kind: "content_erased", at: now, sessionId, entryId: null, entryHash: null, details };
}

export function messageOpened(sessionId: string, entryId: string, at: number): NewChange {
  return { kind: "message_opened", at, sessionId, entryId, entryHash: null, details: null };
}

/** Another writer took over a pending message. */
export function messageTakenOver(sessionId: string, entryId: string, at: number): NewChange {
  const details = JSON.stringify({ takenOver: true });
  return { kind: "message_opened", at, sessionId, entryId, entryHash: null, details };
}

export function quotaChanged(quota: Quota, at: number, by: ChangeAuthor | undefined): NewChange {
  const details = JSON.stringify({ ...quota, ...authored(by) });
  return { kind: "quota_changed", at, sessionId: null, entryId: null, entryHash: null, details };
}

/** The token's id and scope, never its secret. */
export function tokenChanged(
  kind: "token_created" | "token_revoked",
  token: AccessToken,
  at: number,
  by: ChangeAuthor | undefined,
): NewChange {
  const { id, scope, actor, actAs, operator } = token;
  const details = JSON.stringify({ token: id, scope, actor, actAs, operator, ...authored(by) });
  return { kind, at, sessionId: null, entryId: null, entryHash: null, details };
}

/**
 * The key, the session and the reason. A patch gives the names of its fields, not their values. A
 * deletion names the session too.
 */
export function routeChanged(
  { key, sessionId, version }: SessionRoute,
  at: number,
  what: { readonly reason?: string; readonly fields?: readonly string[] } | "deleted",
  by: ChangeAuthor | undefined,
): NewChange {
  const kind = what === "deleted" ? "route_deleted" : "route_put";
  const said = what === "deleted" ? {} : what;
  const details = JSON.stringify({ key, version, ...said, ...authored(by) });
  return { kind, at, sessionId, entryId: null, entryHash: null, details };
}

/** Audit record of an administrative act that writes no other row, such as a copy of the store. */
export function administered(act: string, at: number, by: ChangeAuthor | undefined): NewChange {
  const details = JSON.stringify({ act, ...authored(by) });
  return { kind: "administered", at, sessionId: null, entryId: null, entryHash: null, details };
}

function authored(by: ChangeAuthor | undefined): { readonly by?: ChangeAuthor } {
  return by === undefined ? {} : { by: { token: by.token, actor: by.actor } };
}

/** `chunk` counts the message's flushes from 1. */
export function messageChunk(
  sessionId: string,
  entryId: string,
  chunk: number,
  at: number,
): NewChange {
  const details = JSON.stringify({ chunk });
  return { kind: "message_chunk", at, sessionId, entryId, entryHash: null, details };
}

export function noteChange(
  kind: "memory_put" | "memory_deleted" | "fact_added" | "fact_superseded" | "fact_deleted",
  sessionId: string | null,
  at: number,
  details: JsonObject,
): NewChange {
  return { kind, at, sessionId, entryId: null, entryHash: null, details: JSON.stringify(details) };
}

/** `indexed`: the record has or had a text, so the index reads the change. */
export function recordChange(
  kind: "record_put" | "record_deleted",
  at: number,
  details: {
    readonly namespace: string;
    readonly key: string;
    readonly version: string;
    readonly indexed: boolean;
  },
): NewChange {
  const text = JSON.stringify(details);
  return { kind, at, sessionId: null, entryId: null, entryHash: null, details: text };
}

/** Every added fact, followed by those that it supersedes. */
export function factChanges(sessionId: string, facts: readonly NewFact[], at: number): NewChange[] {
  return facts.flatMap(({ id, supersedes = [] }) => [
    noteChange("fact_added", sessionId, at, { fact: id }),
    ...supersedes.map((old) => noteChange("fact_superseded", sessionId, at, { fact: old, by: id })),
  ]);
}

/** Increments of the tenant's counters. */
export interface TenantDelta {
  readonly sessions?: number;
  readonly entries?: number;
  readonly messages?: number;
  readonly contentBytes?: number;
}

/** The increments of an append. */
export function planDelta(plan: AppendPlan): TenantDelta {
  return {
    entries: plan.rows.length,
    messages: plan.messages,
    contentBytes: plan.contentBytes,
  };
}
