/** What a process remembers of the index: blobs and what was parsed from them, up to a limit. */

import { FIELDS, type Field } from "./layout.ts";

interface Kept {
  readonly value: unknown;
  readonly bytes: number;
}

export const DEFAULT_CACHE_BYTES: number = 64 * 1024 * 1024;

/**
 * Everything in it is immutable, so it never has to be told of a change. It has two generations:
 * when the young one has half of the limit, it becomes the old one, and what nobody asked for since
 * the last time goes. So keeping order costs nothing.
 *
 * A thing is known by its segment and its slot there (`firstSlot`, `slotAt`): numbers, because a search asks for
 * hundreds, and a text would have to be put together for each.
 */
export class IndexCache {
  readonly maxBytes: number;
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(maxBytes: number = DEFAULT_CACHE_BYTES) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(segment: number, slot: number): unknown {
    const young = this.#young.get(segment)?.get(slot);
    if (young !== undefined) return young.value;
    const slots = this.#old.get(segment);
    const old = slots?.get(slot);
    if (old === undefined) return undefined;
    slots?.delete(slot);
    this.#oldBytes -= old.bytes;
    this.set(segment, slot, old.value, old.bytes);
    return old.value;
  }

  set(segment: number, slot: number, value: unknown, bytes: number): void {
    let slots = this.#young.get(segment);
    if (slots === undefined) {
      slots = new Map();
      this.#young.set(segment, slots);
    }
    const known = slots.get(slot);
    if (known !== undefined) this.#youngBytes -= known.bytes;
    slots.set(slot, { value, bytes });
    this.#youngBytes += bytes;
    if (this.#youngBytes <= this.maxBytes / 2) return;
    this.#old = this.#young;
    this.#oldBytes = this.#youngBytes;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}

type Generation = Map<number, Map<number, Kept>>;

const PARTS = [
  ...["blob", "header", "chunk", "factsBlock", "factsTable", "sessions", "keys"],
  ...["memoryKeys", "factKeys", "factSessions"],
  ...FIELDS.flatMap((field) => [`${field}:index`, `${field}:block`, `${field}:lengths`]),
];
/** More than there are parts, and a power of two. */
const ROOM = 32;

export type Part =
  | ("blob" | "header" | "chunk" | "factsBlock" | "factsTable" | "sessions" | "keys")
  | ("memoryKeys" | "factKeys" | "factSessions")
  | `${Field}:${"index" | "block" | "lengths"}`;

const NUMBERS = new Map(PARTS.map((part, i) => [part, i]));

/** The slot of a part that a segment has once; of others, that of number 0. */
export function firstSlot(part: Part): number {
  return NUMBERS.get(part) as number;
}

/** The slot of part `number` of those that begin with `first`. */
export function slotAt(first: number, number: number): number {
  return first + number * ROOM;
}
