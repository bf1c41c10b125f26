/** Entries: the nodes of a session's tree. */

import { BLOCK } from "./block.ts";
import type { JsonValue } from "./json.ts";
import type { FieldsOf, Special } from "./shape.ts";

export const ROLES = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof ROLES)[number];

/**
 * Foreign roles, and our role of their messages. A message keeps its original role in
 * `metadata.source.role`.
 */
export const FOREIGN_ROLES: Readonly<Record<ForeignRole, Role>> = {
  developer: "system",
  function: "tool",
  model: "assistant",
};
export type ForeignRole = "developer" | "function" | "model";

/** The accepted roles of a message. */
export const MESSAGE_ROLES: readonly (Role | ForeignRole)[] = [
  ...ROLES,
  ...(Object.keys(FOREIGN_ROLES) as ForeignRole[]),
];

export const ENTRY_STATUSES = ["pending", "committed", "aborted"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export interface KindRules {
  /** Part of the model's context. */
  readonly entersContext: boolean;
  /** Searchable. Injected and derived text is not: search must not find its own results. */
  readonly indexed: boolean;
  /** Shown to a person (a custom message by its own `display`). */
  readonly shown: boolean;
  /** Counts in `messageCount` and has a place in `listMessages`. */
  readonly counted: boolean;
  /** Becomes the active leaf. Other kinds are annotations of their anchor. */
  readonly movesLeaf: boolean;
  /** Holds conversation content, which retention erases once it is summarised. */
  readonly erasable: boolean;
}

export type EntryKind =
  | "message"
  | "compaction"
  | "branch_summary"
  | "summary"
  | "custom_message"
  | "custom"
  | "label"
  | "model_change"
  | "thinking_level_change"
  | "session_info";

/** The rules of each kind of entry. */
export const ENTRY_KINDS: Readonly<Record<EntryKind, KindRules>> = {
  message: {
    entersContext: true,
    indexed: true,
    shown: true,
    counted: true,
    movesLeaf: true,
    erasable: true,
  },
  compaction: {
    entersContext: true,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: true,
    erasable: false,
  },
  branch_summary: {
    entersContext: true,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: true,
    erasable: true,
  },
  summary: {
    entersContext: false,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: false,
    erasable: false,
  },
  custom_message: {
    entersContext: true,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: true,
    erasable: true,
  },
  custom: {
    entersContext: false,
    indexed: false,
    shown: false,
    counted: false,
    movesLeaf: false,
    erasable: true,
  },
  label: {
    entersContext: false,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: false,
    erasable: true,
  },
  model_change: {
    entersContext: false,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: false,
    erasable: false,
  },
  thinking_level_change: {
    entersContext: false,
    indexed: false,
    shown: true,
    counted: false,
    movesLeaf: false,
    erasable: false,
  },
  session_info: {
    entersContext: false,
    indexed: false,
    shown: false,
    counted: false,
    movesLeaf: false,
    erasable: false,
  },
};

/** Unknown kinds of newer versions are kept and ignored. */
const UNKNOWN_KIND: KindRules = ENTRY_KINDS.session_info;

export function kindRules(kind: EntryKind): KindRules {
  return ENTRY_KINDS[kind] ?? UNKNOWN_KIND;
}

export const USAGE = {
  inputTokens: "count",
  outputTokens: "count",
  cacheCreationTokens: "count",
  cacheReadTokens: "count",
} as const;

/** Usage of one model call, as the provider reported it. */
export interface Usage extends FieldsOf<typeof USAGE> {}

/** Our data has names of ours; an extension's keeps its own. */
const DATA: Special<JsonValue> = { special: "data" };
const KINDS: readonly EntryKind[] = Object.keys(ENTRY_KINDS) as EntryKind[];

export const ENTRY = {
  id: "text",
  sessionId: "text",
  /** The writer's id, unique within the session; null if none was given. */
  externalId: "text|null",
  /** Position in the session's log: 1, 2, 3 … without gaps. A pending message has 0. */
  sequence: "integer",
  parentId: "text|null",
  kind: { some: KINDS as typeof KINDS },
  role: { of: { one: ROLES as typeof ROLES }, null: true },
  actor: "text|null",
  status: { one: ENTRY_STATUSES as typeof ENTRY_STATUSES },
  /** Present on messages, custom messages and summaries. */
  blocks: [BLOCK as typeof BLOCK],
  /** Present on the other kinds: the label, the model's name, an extension's state. */
  data: DATA as typeof DATA,
  /**
   * The writer's raw value of a message: round-trips, not searched, in no context. Null: none,
   * erased, or large and omitted by a preview.
   */
  raw: "json",
  /** Zero-based index of a message on its own path, as in `listMessages`. */
  index: { of: "count|null", wire: "msg_idx" },
  usage: { of: USAGE as typeof USAGE, null: true },
  model: "text|null",
  adapter: "text|null",
  supersededBy: "text|null",
  copiedFrom: "text|null",
  pinned: "flag",
  metadata: "object",
  createdAt: "time",
  /** SHA-256 over the parent's hash, the content and the immutable fields, in hex. */
  hash: "text|null",
  /** True where a preview cut a large payload to its head. */
  truncated: "flag",
  /** True: erased by the session's retention; `blocks` is empty, `data` is null. */
  erased: "flag",
} as const;
export interface Entry extends FieldsOf<typeof ENTRY> {}

/** The message that an answer names (`metadata.replyTo`); null if none. */
export function replyToOf({ metadata }: Pick<Entry, "metadata">): string | null {
  const { replyTo } = metadata;
  return typeof replyTo === "string" ? replyTo : null;
}
