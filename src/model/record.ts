/** Records: programs' values under a namespace and a key, beside conversations. */

import type { JsonValue } from "./json.ts";
import type { FieldsOf } from "./shape.ts";

export const RECORD_TYPES = ["json", "bytes"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export const RECORD_INFO = {
  namespace: "text",
  key: "text",
  /** Opaque; changes with every write, for `compareAndSet`. */
  version: "text",
  type: { one: RECORD_TYPES as typeof RECORD_TYPES },
  size: { of: "count", about: "Bytes of the value; of JSON as UTF-8." },
  /** Whether it has a text for `records.search`. */
  indexed: "flag",
  /** The expiry. Null: never. */
  expiresAt: "time|null",
  createdAt: "time",
  updatedAt: "time",
} as const;

/** A record without its value. */
export interface RecordInfo extends FieldsOf<typeof RECORD_INFO> {}

export type RecordValue = JsonValue | Uint8Array;

export interface StoredRecord extends RecordInfo {
  readonly text: string | null;
  /** A `Uint8Array` if `type` is `bytes`. */
  readonly value: RecordValue;
}

/** A record found by a search. */
export interface RecordHit extends RecordInfo {
  readonly text: string;
}

/**
 * Records share the index of memories. An agent's name cannot contain this character, so no
 * memory's key begins with it, and records sort before all memories.
 */
export const RECORD_KEY_PREFIX = "\u0001";

/** Stands for the agent in a memory's key. */
export function recordOwner(namespace: string): string {
  return `${RECORD_KEY_PREFIX}${namespace}`;
}

/** The namespace of `recordOwner`; undefined for an agent's name. */
export function namespaceOf(owner: string): string | undefined {
  return owner.startsWith(RECORD_KEY_PREFIX) ? owner.slice(RECORD_KEY_PREFIX.length) : undefined;
}
