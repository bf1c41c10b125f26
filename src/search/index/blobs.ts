/**
 * Batched reads by re-execution: cached blobs are available at once, missing ones are fetched
 * together.
 *
 * Code that reads the index runs as an *attempt*: it records missing blobs and continues as far as
 * it can. Then all missing blobs are fetched at once, and the attempt runs again. So a warm search
 * reads nothing, and a cold one makes a few reads, for any number of terms and segments.
 */

import { ask, type BlobKey, type SansIo } from "../port.ts";
import { aligned } from "./bytes.ts";
import { firstSlot, HeldBlob, type IndexCache, slotAt } from "./index-cache.ts";
import type { Address } from "./layout.ts";

/** A segment in the manifest that cannot be read. */
export class UnreadableSegment extends Error {
  readonly segment: number;
  readonly how: "missing" | "damaged";

  constructor(segment: number, how: "missing" | "damaged") {
    super(`segment ${segment} is ${how}`);
    this.segment = segment;
    this.how = how;
  }
}

/** Memory of a blob with its views, relative to its bytes; keeps the process below 300 MB. */
const WITH_VIEWS = 1.1;
const EMPTY = new Uint8Array(0);
const BLOB = firstSlot("blob");

export class Blobs {
  readonly #cache: IndexCache;
  /** Held to the end of the computation, so that a small cache cannot cause endless attempts. */
  readonly #held = new Map<number, Map<number, unknown>>();
  readonly #missing = new Map<string, BlobKey>();

  constructor(cache: IndexCache) {
    this.#cache = cache;
  }

  /** Ends the use of all returned blobs. */
  close(): void {
    this.#held.clear();
  }

  /** The bytes of a record; undefined if its blob is missing, which is recorded. */
  record(segment: number, [blob, offset, length]: Address): Uint8Array | undefined {
    // An empty record may be outside of any blob.
    if (length === 0) return EMPTY;
    return this.blob(segment, blob)?.subarray(offset, offset + length);
  }

  /**
   * The view that `read` makes of a record without copying: a few typed arrays over the blob. A
   * record always has the same view, so it is built once while its blob is cached.
   */
  view<Value>(
    segment: number,
    [blob, offset, length]: Address,
    read: (bytes: Uint8Array) => Value,
  ): Value | undefined {
    const found = this.#blob(segment, blob);
    if (found === undefined) return undefined;
    let value = found.views.get(offset) as Value | undefined;
    if (value === undefined) {
      value = read(found.bytes.subarray(offset, offset + length));
      found.views.set(offset, value);
    }
    return value;
  }

  blob(segment: number, blob: number): Uint8Array | undefined {
    return this.#blob(segment, blob)?.bytes;
  }

  /** A value parsed from blobs. `make` gives undefined if one of them is missing. */
  parsed<Value>(
    segment: number,
    slot: number,
    make: () => { readonly value: Value; readonly bytes: number } | undefined,
  ): Value | undefined {
    const known = this.#find(segment, slot);
    if (known !== undefined) return known as Value;
    const made = make();
    if (made === undefined) return undefined;
    this.#hold(segment, slot, made.value);
    this.#cache.set(segment, slot, made.value, made.bytes);
    return made.value;
  }

  /** Releases held blobs to the cache's eviction. */
  release(): void {
    this.#held.clear();
  }

  /** Runs the attempt until no blob is missing. */
  *complete<Value>(attempt: () => Value): SansIo<Value> {
    for (;;) {
      const result = attempt();
      if (this.#missing.size === 0) return result;
      yield* this.#fetch();
    }
  }

  *#fetch(): SansIo<void> {
    const keys = [...this.#missing.values()];
    this.#missing.clear();
    const answers = yield* ask<"blobs">({ need: "blobs", keys });
    for (const [i, { segment, blob }] of keys.entries()) {
      const answer = answers[i] ?? "missing";
      if (typeof answer === "string") throw new UnreadableSegment(segment, answer);
      const bytes = aligned(answer);
      const held = new HeldBlob(bytes);
      this.#hold(segment, slotAt(BLOB, blob), held);
      this.#cache.set(segment, slotAt(BLOB, blob), held, WITH_VIEWS * bytes.length);
    }
  }

  #blob(segment: number, blob: number): HeldBlob | undefined {
    const found = this.#find(segment, slotAt(BLOB, blob)) as HeldBlob | undefined;
    if (found === undefined) this.#missing.set(`${segment}/${blob}`, { segment, blob });
    return found;
  }

  #find(segment: number, slot: number): unknown {
    const held = this.#held.get(segment)?.get(slot);
    if (held !== undefined) return held;
    const known = this.#cache.get(segment, slot);
    if (known !== undefined) this.#hold(segment, slot, known);
    return known;
  }

  #hold(segment: number, slot: number, value: unknown): void {
    const slots = this.#held.get(segment);
    if (slots !== undefined) slots.set(slot, value);
    else this.#held.set(segment, new Map([[slot, value]]));
  }
}
