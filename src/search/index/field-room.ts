/**
 * Arrays that one segment after another is built in.
 *
 * Each takes a few megabytes. Made anew for each segment, those of the last ten would wait for the
 * collector of garbage, which does not hurry for what is not its own memory.
 */

/** `counts` hold nothing but zeros; the others whatever was left in them. */
export type RoomName = "counts" | "ofTerm" | "positions" | "words";

/** Larger ones are not kept: they were needed once, for very long messages. */
const MAX_KEPT = 4 * 1024 * 1024;

export class FieldRoom {
  readonly #left = new Map<RoomName, Uint32Array<ArrayBuffer>>();

  /** An array of at least this length. It is the taker's until it is left again. */
  take(name: RoomName, length: number): Uint32Array<ArrayBuffer> {
    const left = this.#left.get(name);
    this.#left.delete(name);
    return left !== undefined && left.length >= length ? left : new Uint32Array(length);
  }

  clear(): void {
    this.#left.clear();
  }

  leave(name: RoomName, array: Uint32Array<ArrayBuffer>): void {
    if (array.length <= MAX_KEPT) this.#left.set(name, array);
  }
}
