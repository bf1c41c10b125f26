/**
 * Blobs for one computation: what is there is there at once, what is not is asked for together.
 *
 * Code that reads the index runs as an *attempt*: where a blob is not at hand it notes that and goes
 * on as far as it can. Then all missing blobs are fetched in one go, and the attempt runs again. So a
 * warm search asks for nothing, and a cold one asks a few times, however many terms and segments.
 */

import { type Asking, ask, type BlobKey } from "../port.ts";
import type { Address } from "./blob-packer.ts";
import { aligned } from "./bytes.ts";
import type { IndexCache } from "./index-cache.ts";

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

const EMPTY = new Uint8Array(0);

export class Blobs {
  readonly #cache: IndexCache;
  /** Held to the end of the computation, so that a small cache cannot make it run in circles. */
  readonly #blobs = new Map<number, (Uint8Array | undefined)[]>();
  readonly #parsed = new Map<string, unknown>();
  readonly #missing = new Map<string, BlobKey>();

  constructor(cache: IndexCache) {
    this.#cache = cache;
  }

  /** The bytes of a record, or undefined: then its blob is noted as missing. */
  record(segment: number, [blob, offset, length]: Address): Uint8Array | undefined {
    // An empty record may lie where no blob was ever needed.
    if (length === 0) return EMPTY;
    return this.blob(segment, blob)?.subarray(offset, offset + length);
  }

  blob(segment: number, blob: number): Uint8Array | undefined {
    const held = this.#blobs.get(segment)?.[blob];
    if (held !== undefined) return held;
    const key = keyOf(segment, blob);
    const bytes = this.#cache.get(key) as Uint8Array | undefined;
    if (bytes === undefined) this.#missing.set(key, { segment, blob });
    else this.#hold(segment, blob, bytes);
    return bytes;
  }

  /** Something that was parsed from blobs. `make` gives undefined if one of them is missing. */
  parsed<Value>(
    key: string,
    make: () => { readonly value: Value; readonly bytes: number } | undefined,
  ): Value | undefined {
    const held = this.#parsed.get(key);
    if (held !== undefined) return held as Value;
    const known = this.#cache.get(key);
    if (known !== undefined) {
      this.#parsed.set(key, known);
      return known as Value;
    }
    const made = make();
    if (made === undefined) return undefined;
    this.#parsed.set(key, made.value);
    this.#cache.set(key, made.value, made.bytes);
    return made.value;
  }

  /** Lets go of what is held: the cache decides what stays. */
  release(): void {
    this.#blobs.clear();
    this.#parsed.clear();
  }

  /** Runs the attempt until nothing is missing. */
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
      this.#hold(segment, blob, bytes);
      this.#cache.set(keyOf(segment, blob), bytes, bytes.length);
    }
  }

  #hold(segment: number, blob: number, bytes: Uint8Array): void {
    const blobs = this.#blobs.get(segment);
    if (blobs !== undefined) blobs[blob] = bytes;
    else this.#blobs.set(segment, Object.assign([], { [blob]: bytes }));
  }
}

function keyOf(segment: number, blob: number): string {
  return `${segment}/${blob}`;
}
