/** Entries: the nodes of a session's tree. */

import type { Block } from "./block.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export const ROLES = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof ROLES)[number];

/**
 * Roles that other programs have, and the role under which their messages are stored. A message keeps
 * the one that it came with in `metadata.source.role`.
 */
export const FOREIGN_ROLES: Readonly<Record<ForeignRole, Role>> = {
  developer: "system",
  function: "tool",
  model: "assistant",
};
export type ForeignRole = "developer" | "function" | "model";

/** What a message may come with as its role. */
export const MESSAGE_ROLES: readonly (Role | ForeignRole)[] = [
  ...ROLES,
  ...(Object.keys(FOREIGN_ROLES) as ForeignRole[]),
];

export const ENTRY_STATUSES = ["pending", "committed", "aborted"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export interface KindRules {
  /** Is rendered into what the model sees. */
  readonly entersContext: boolean;
  /** Its text can be found by search. Injected and derived text cannot: search must not find echoes. */
  readonly indexed: boolean;
  /** A person paging through the session sees it (a custom message by its own `display`). */
  readonly shown: boolean;
  /** Counts in `messageCount` and has a place in `listMessages`. */
  readonly counted: boolean;
  /** Becomes the active leaf. Other kinds are annotations of the entry that they were added at. */
  readonly movesLeaf: boolean;
  /** Holds conversation content, which a retention erases once it is summarised. */
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

/** What each kind of entry means, in one table. */
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

/** A kind that only a newer version knows is kept and left alone. */
const UNKNOWN_KIND: KindRules = ENTRY_KINDS.session_info;

export function kindRules(kind: EntryKind): KindRules {
  return ENTRY_KINDS[kind] ?? UNKNOWN_KIND;
}

/** What one model call took, as the provider reported it. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationTokens: number;
  readonly cacheReadTokens: number;
}

/** All that a model was given and has answered, what came from a cache or went there included. */
export function totalTokens(usage: Usage): number {
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = usage;
  return inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
}

export interface Entry {
  readonly id: string;
  readonly sessionId: string;
  /** What its writer calls it, unique within the session; null if it was given no such id. */
  readonly externalId: string | null;
  /** Position in the session's log: 1, 2, 3 … without gap. A pending message has none (0). */
  readonly sequence: number;
  readonly parentId: string | null;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly status: EntryStatus;
  /** Present on messages, custom messages and summaries. */
  readonly blocks: readonly Block[];
  /** Present on the other kinds: the label, the model's name, an extension's state. */
  readonly data: JsonValue;
  /**
   * What its writer keeps beside a message: given back as it came, never searched, in no context. Null:
   * nothing, or it is erased, or it is large and a preview left it out.
   */
  readonly raw: JsonValue;
  /** Zero-based index of a message on its own path, the one that `listMessages` pages by. */
  readonly index: number | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly supersededBy: string | null;
  readonly copiedFrom: string | null;
  readonly pinned: boolean;
  readonly metadata: JsonObject;
  readonly createdAt: number;
  /** SHA-256 over the parent's hash, the content and the immutable fields, in hex. */
  readonly hash: string | null;
  /** True where a large payload was cut to its head because the caller asked for a preview. */
  readonly truncated: boolean;
  /** Its content was erased, as the session's retention says: `blocks` is empty, `data` is null. */
  readonly erased: boolean;
}

/** The message that an answer says it answers (`metadata.replyTo`); null if it does not say. */
export function replyToOf({ metadata }: Pick<Entry, "metadata">): string | null {
  const { replyTo } = metadata;
  return typeof replyTo === "string" ? replyTo : null;
}
