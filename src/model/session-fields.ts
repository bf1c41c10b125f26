/**
 * The fields of a session: kind, column, and whether callers set it.
 *
 * The type `Session`, the statements and rows of both backends, the wire type, the schemas of REST
 * and MCP, the inputs that set fields and the table in docs/library.md derive from it. A field's
 * name on the wire is its own in snake_case, unless `wire` says otherwise.
 *
 * - `kind`: how a value is stored and shown. `session.ts` gives each kind its type.
 * - `column`: `s.` is the table `sessions`, `t.` is `session_state`. Fields without one are
 *   composed.
 * - `set`: callers set it when they create a session, and change it later; the kind of the values that
 *   they may give (`inputs/kinds.ts`).
 * - `fallback`: the value where an older version left the column empty; `fallbackTo`: another
 *   field's.
 */
export const SESSION_FIELDS = {
  id: { kind: "text", column: "s.id" },
  /** The id for people to type: unique within the tenant, and permanent. */
  shortId: { kind: "text", column: "s.short_id", fallbackTo: "id" },
  /** The tenant that it belongs to. */
  tenant: { kind: "text" },
  /** Set at creation; immutable. */
  agent: { kind: "text", column: "s.agent" },
  /** The actor that created it. */
  createdBy: { kind: "text", column: "s.created_by" },
  createdAt: { kind: "time", column: "s.created_at" },
  /** Empty until a client sets one. */
  title: { kind: "text", column: "s.title", fallback: "", set: "text" },
  /** The last append, by the source's clock if ingested. */
  updatedAt: { kind: "time", column: "t.updated_at" },
  /** Committed messages of all branches. */
  messageCount: { kind: "count", column: "t.message_count" },
  /** A copy of the newest compaction's summary. */
  summary: { kind: "text", nullable: true, column: "s.summary" },
  /** The actor it belongs to; `createdBy` unless set. */
  owner: { kind: "text", column: "s.owner", set: "name" },
  /** In the order of joining. An append adds its actor. */
  participants: { kind: "names", set: "texts" },
  /** Any JSON object of at most 64 KiB. */
  metadata: { kind: "json", column: "s.metadata", set: "object" },
  /** Seconds after the last write at which a sweep deletes the session. */
  ttl: { kind: "count", nullable: true, column: "s.ttl_seconds", set: "seconds|null" },
  /** The retention of content that a compaction covers. */
  retention: { kind: "retention", column: "s.retention", fallback: "full", set: "text" },
  parentSessionId: { kind: "text", nullable: true, column: "s.parent_session_id" },
  /** The entry of the parent session at which this one forked off. */
  forkPoint: { kind: "text", nullable: true, column: "s.fork_entry_id" },
  /** The source of an imported or ingested session. */
  origin: { kind: "origin" },
  /** Absent unless the session was ingested from files. */
  figures: { kind: "figures", optional: true },
  /** The start of the conversation. */
  startedAt: { kind: "time", column: "s.started_at", fallbackTo: "createdAt" },
  /** The last real input of a person or channel: heartbeats and bookkeeping do not count. */
  lastInteractionAt: { kind: "time", column: "t.last_interaction_at" },
  /** The last change of any kind, bookkeeping included. */
  lastWriteAt: { kind: "time", column: "t.last_write_at" },
  /** Entries of all kinds and branches. */
  entryCount: { kind: "count", column: "t.last_sequence" },
  /** The total usage of its model calls. */
  tokens: { kind: "tokens" },
  /** The active leaf; null in an empty session. */
  leaf: { kind: "text", nullable: true, column: "t.leaf_id" },
  /** The last entry that the newest summary covers. */
  summarizedThrough: { kind: "text", nullable: true, column: "t.summarized_through" },
} as const;

/** The fields of an origin, all of them texts that may be absent. */
export const ORIGIN_FIELDS = {
  /** The agent tool that wrote it, such as `claude-code`. */
  source: { column: "s.source" },
  workstation: { column: "s.workstation" },
  projectId: { column: "s.project_id", later: true },
  projectPath: { column: "s.project_path", later: true },
  gitBranch: { column: "s.git_branch", later: true },
  /** The repository, by its remote: `github.com/acme/shop`. Clones and worktrees share it. */
  repo: { column: "s.repo", later: true },
  file: { column: "s.file" },
  /** The source's own identity of the session, unique within a tenant. */
  key: { column: "s.origin_key", later: true },
  /**
   * `own`: written by this person's agents on this person's machines. `team`: by somebody with a
   * token. `foreign`: from a repository's files, an import or a share. Set by the way in, and never
   * changed; see `provenanceOf`.
   */
  provenance: { column: "s.provenance" },
} as const;

/** Figures of a session that is ingested from files. On the wire they are fields of the session. */
export const FIGURE_FIELDS = {
  /** Requests of the user, each with the work that followed. */
  exchangeCount: { kind: "count", column: "s.exchange_count" },
  /** Calls per tool. */
  toolCounts: { kind: "counts", column: "s.tool_counts" },
  /** The file's modification time at the last reading. */
  fileMtime: { kind: "time", nullable: true, column: "s.file_mtime" },
  firstMessageAt: { kind: "time", nullable: true, column: "s.first_msg_at", wire: "first_msg_at" },
  lastMessageAt: { kind: "time", nullable: true, column: "s.last_msg_at", wire: "last_msg_at" },
  /** The cost of the calls in US dollars, as far as the source reports it. */
  costUsd: { kind: "amount", optional: true, column: "s.cost_usd" },
} as const;

/** A field in the generic form that iterations over a table use. */
export interface Field {
  readonly kind: FieldKind;
  readonly nullable?: true;
  readonly optional?: true;
  readonly column?: string;
  readonly wire?: string;
  readonly set?: string;
  readonly fallback?: string;
  readonly fallbackTo?: string;
}

export type FieldKind =
  | "text"
  | "count"
  | "amount"
  | "time"
  | "retention"
  | "names"
  | "counts"
  | "json"
  | "origin"
  | "figures"
  | "tokens";

/** The fields that callers set. Those that may be null are null unless set. */
export type SettableField = {
  [Name in keyof typeof SESSION_FIELDS]: (typeof SESSION_FIELDS)[Name] extends { set: string }
    ? Name
    : never;
}[keyof typeof SESSION_FIELDS];

export type NullableSettable = {
  [Name in SettableField]: (typeof SESSION_FIELDS)[Name] extends { nullable: true } ? Name : never;
}[SettableField];

export const SETTABLE_FIELDS: readonly SettableField[] = fieldsOf(SESSION_FIELDS)
  .filter(([, field]) => field.set !== undefined)
  .map(([name]) => name as SettableField);

/** The rows of a table, in its order. */
export function fieldsOf<Name extends string>(
  table: Readonly<Record<Name, Field>>,
): readonly (readonly [Name, Field])[] {
  return Object.entries(table) as [Name, Field][];
}
