/**
 * Blobs of one computation: cached ones are available at once, missing ones are fetched together.
 *
 * Code that reads the index runs as an *attempt*: where a blob is not at hand it notes that and goes
 * on as far as it can. Then all missing blobs are fetched in one go, and the attempt runs again. So a
 * warm search asks for nothing, and a cold one asks a few times, however many terms and segments.
 */

import { type Asking, ask, type BlobKey } from "../port.ts";
import { aligned } from "./bytes.ts";
import { firstSlot, HeldBlob, type IndexCache, slotAt } from "./index-cache.ts";
import type { Address } from "./layout.ts";

/** A segment that a manifest names and that cannot be read. */
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
  /** Held to the end of the computation, so that a small cache cannot make it run in circles. */
  readonly #held = new Map<number, Map<number, unknown>>();
  readonly #missing = new Map<string, BlobKey>();

  constructor(cache: IndexCache) {
    this.#cache = cache;
  }

  /** Ends the use of all returned blobs. */
  close(): void {
    this.#held.clear();
  }

  /** The bytes of a record, or undefined: then its blob is noted as missing. */
  record(segment: number, [blob, offset, length]: Address): Uint8Array | undefined {
    // An empty record may lie where no blob was ever needed.
    if (length === 0) return EMPTY;
    return this.blob(segment, blob)?.subarray(offset, offset + length);
  }

  /**
   * What `read` makes of a record without copying it: a few typed arrays that look into the blob. The
   * same record is always read in the same way, so it is read once, for as long as its blob is kept.
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

  /** Something that was parsed from blobs. `make` gives undefined if one of them is missing. */
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
  *complete<Value>(attempt: () => Value): Asking<Value> {
    for (;;) {
      const result = attempt();
      if (this.#missing.size === 0) return result;
      yield* this.#fetch();
    }
  }

  *#fetch(): Asking<void> {
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
