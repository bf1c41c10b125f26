/** The process's index cache: blobs and parsed values, up to a limit (CLOCK with use counts). */

import { FIELDS, type Field } from "./layout.ts";

/** A blob and the views of its records by offset, evicted together. */
export class HeldBlob {
  readonly bytes: Uint8Array;
  readonly views: Map<number, unknown> = new Map();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

interface Kept {
  readonly segment: number;
  readonly slot: number;
  value: unknown;
  bytes: number;
  /** Recent uses; the value is evicted when they are used up. */
  uses: number;
}

export const DEFAULT_CACHE_BYTES: number = 64 * 1024 * 1024;

/**
 * All values are immutable, so there is no invalidation. When it is full, the clock hand takes a
 * use from each value in turn and evicts those without one. So frequently used values stay longer,
 * and a hit costs no reordering.
 *
 * Keys are a segment and a slot in it (`firstSlot`, `slotAt`): numbers, because a search looks up
 * hundreds, and string keys would have to be built for each.
 */
export class IndexCache {
  readonly maxBytes: number;
  readonly #segments = new Map<number, Map<number, Kept>>();
  /** The ring of values; the clock hand is at `#first`. */
  #queue: Kept[] = [];
  #first = 0;
  #bytes = 0;

  constructor(maxBytes: number = DEFAULT_CACHE_BYTES) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(segment: number, slot: number): unknown {
    const kept = this.#segments.get(segment)?.get(slot);
    if (kept === undefined) return undefined;
    if (kept.uses < MAX_USES) kept.uses++;
    return kept.value;
  }

  set(segment: number, slot: number, value: unknown, bytes: number): void {
    if (bytes > this.maxBytes) return;
    const known = this.#segments.get(segment)?.get(slot);
    if (known !== undefined) {
      this.#bytes += bytes - known.bytes;
      known.value = value;
      known.bytes = bytes;
      return;
    }
    while (this.#bytes + bytes > this.maxBytes) this.#turn();
    const kept: Kept = { segment, slot, value, bytes, uses: 0 };
    const slots = this.#segments.get(segment);
    if (slots !== undefined) slots.set(slot, kept);
    else this.#segments.set(segment, new Map([[slot, kept]]));
    this.#queue.push(kept);
    this.#bytes += bytes;
  }

  /** Advances the clock hand: evicts the value, or takes a use from it. */
  #turn(): void {
    const kept = this.#queue[this.#first++] as Kept;
    if (this.#first > this.#queue.length / 2) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
    if (kept.uses > 0) {
      kept.uses--;
      this.#queue.push(kept);
      return;
    }
    this.#bytes -= kept.bytes;
    const slots = this.#segments.get(kept.segment);
    slots?.delete(kept.slot);
    if (slots?.size === 0) this.#segments.delete(kept.segment);
  }
}

/** Cap of the use count: clock rounds that an item survives without a hit. */
const MAX_USES = 3;

const SEGMENT_PARTS = [
  "blob",
  "header",
  "chunk",
  "factsBlock",
  "factsTable",
  "sessions",
  "keys",
  "memoryKeys",
  "factKeys",
  "factSessions",
] as const;
const FIELD_PARTS = ["index", "block", "lengths"] as const;
const PARTS = [
  ...SEGMENT_PARTS,
  ...FIELDS.flatMap((field) => FIELD_PARTS.map((part) => `${field}:${part}` as const)),
];
/** More than there are parts, and a power of two. */
const ROOM = 32;

export type Part = (typeof SEGMENT_PARTS)[number] | `${Field}:${(typeof FIELD_PARTS)[number]}`;

const NUMBERS = new Map<Part, number>(PARTS.map((part, i) => [part, i]));

/** The slot of a part that a segment has once; of others, that of number 0. */
export function firstSlot(part: Part): number {
  return NUMBERS.get(part) as number;
}

/** The slot of part `number` of those that begin with `first`. */
export function slotAt(first: number, number: number): number {
  return first + number * ROOM;
}
