/** Records: values that programs keep under a namespace and a key, beside conversations. */

import type { JsonValue } from "./json.ts";

export const RECORD_TYPES = ["json", "bytes"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** A record without its value. */
export interface RecordInfo {
  readonly namespace: string;
  readonly key: string;
  /** Opaque. Another one after every write: what `compareAndSet` compares. */
  readonly version: string;
  readonly type: RecordType;
  /** Bytes of the value; of JSON as UTF-8. */
  readonly size: number;
  /** Whether it has a text by which `records.search` finds it. */
  readonly indexed: boolean;
  /** It is absent from this time on. Null: it does not expire. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type RecordValue = JsonValue | Uint8Array;

export interface StoredRecord extends RecordInfo {
  readonly text: string | null;
  /** A `Uint8Array` if `type` is `bytes`. */
  readonly value: RecordValue;
}

/** A record that a search has found. */
export interface RecordHit extends RecordInfo {
  readonly text: string;
}

/**
 * Records share the index of memories. An agent's name cannot hold this character, so no memory has
 * a key that begins with it, and records stand before all memories.
 */
export const RECORD_KEY_PREFIX = "\u0001";

/** The name that stands in a memory's key in place of the agent. */
export function recordOwner(namespace: string): string {
  return `${RECORD_KEY_PREFIX}${namespace}`;
}

/** The namespace that `recordOwner` was given; undefined for the name of an agent. */
export function namespaceOf(owner: string): string | undefined {
  return owner.startsWith(RECORD_KEY_PREFIX) ? owner.slice(RECORD_KEY_PREFIX.length) : undefined;
}
