/**
 * The addresses and time ranges of a segment's fact blocks.
 *
 * A large segment has thousands, of which a search needs a few dozen, so they are kept encoded.
 */

import { ByteReader } from "./bytes.ts";
import { readAddress } from "./field-writer.ts";
import type { Address } from "./layout.ts";

/** A block's address, its earliest and its latest time. */
const VARINTS = 5;

export class FactsTable {
  readonly #bytes: Uint8Array;
  /** The start of each block in the bytes. */
  readonly #starts: Uint32Array;
  /** By block, computed on demand: the earliest and the latest time. */
  #times: Float64Array | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    const starts: number[] = [];
    const reader = new ByteReader(bytes);
    while (!reader.done) {
      starts.push(reader.at);
      reader.skipVarints(VARINTS);
    }
    this.#starts = Uint32Array.from(starts);
  }

  block(number: number): Address | undefined {
    const start = this.#starts[number];
    return start === undefined ? undefined : readAddress(new ByteReader(this.#bytes, start));
  }

  /** The earliest and the latest time of the blocks from `from` to `to` (not included). */
  times(from: number, to: number): readonly [number, number] {
    let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    this.#times ??= this.#readTimes();
    for (let number = from; number < Math.min(to, this.#starts.length); number++) {
      earliest = Math.min(earliest, this.#times[2 * number] as number);
      latest = Math.max(latest, this.#times[2 * number + 1] as number);
    }
    return [earliest, latest];
  }

  #readTimes(): Float64Array {
    const times = new Float64Array(2 * this.#starts.length);
    for (const [number, start] of this.#starts.entries()) {
      const reader = new ByteReader(this.#bytes, start);
      readAddress(reader);
      times[2 * number] = reader.signed();
      times[2 * number + 1] = reader.signed();
    }
    return times;
  }
}
