/** Changes: the rows of the feed. */

import type { FieldsOf } from "./shape.ts";

export const CHANGE_KINDS = [
  "session_created",
  "session_updated",
  "session_deleted",
  "entry_appended",
  "entry_superseded",
  "entry_pinned",
  "entry_unpinned",
  "leaf_moved",
  "message_opened",
  "message_chunk",
  "message_aborted",
  "context_usage",
  "content_erased",
  "memory_put",
  "memory_deleted",
  "fact_added",
  "fact_superseded",
  "fact_deleted",
  "record_put",
  "record_deleted",
  "quota_changed",
  "token_created",
  "token_revoked",
  "route_put",
  "route_deleted",
  "administered",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/**
 * The author of a change over a server: the token's id, never its secret, and its actor. Both null
 * without a token.
 */
export interface ChangeAuthor {
  readonly token: string | null;
  readonly actor: string | null;
}

export const CHANGE = {
  /** 1, 2, 3 … within a tenant: commit order, without gaps. */
  position: "count",
  /** Resumes after this change: pass it as `after`. */
  cursor: "text",
  kind: { one: CHANGE_KINDS as typeof CHANGE_KINDS },
  at: "time",
  sessionId: "text|null",
  entryId: "text|null",
  /** Numbers and names of the kind, such as the token counts of `context_usage`. */
  details: "fields",
  /** SHA-256 over the previous change's hash and this row, in hex. */
  hash: "text",
} as const;

/** One row of the feed, with ids and kinds, never content. */
export interface Change extends FieldsOf<typeof CHANGE> {}
