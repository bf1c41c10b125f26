/**
 * What neighbouring entries have that resembles one another, compressed together.
 *
 * A tool call looks like the one before it, and so does what its source said of it: compressed one by
 * one such texts lose a third, forty of them together lose two thirds.
 */

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** What stands behind each text but the last. No JSON has this byte in it, and none is empty. */
const END = 0;

/** Two thirds of the time of level 3, for less than a hundredth more bytes. */
const LEVEL = 2;

/** A pack has about as much; one buffer that mostly suffices saves putting several together. */
const USUAL_BYTES = 64 * 1024;

/** A pack as it is read: for each of its slots JSON texts, and null for what it does not hold. */
export class Pack {
  /** Content and metadata of each slot in turn; empty where there is none. */
  readonly #texts: readonly string[];
  /** About what it takes in memory. */
  readonly size: number;

  /** Throws if the bytes are not those of a pack. */
  constructor(bytes: Uint8Array) {
    const plain = zstdDecompressSync(bytes, { chunkSize: USUAL_BYTES });
    this.#texts = plain.toString("utf8").split(String.fromCharCode(END));
    this.size = plain.length;
  }

  content(slot: number): string | null {
    return this.#texts[2 * slot] || null;
  }

  metadata(slot: number): string | null {
    return this.#texts[2 * slot + 1] || null;
  }

  /** The bytes of the same pack without what it holds for `slots`; undefined if nothing is left. */
  without(slots: ReadonlySet<number>): Uint8Array | undefined {
    const left = this.#texts.map((text, i) => (slots.has(i >> 1) ? "" : text));
    return left.every((text) => text === "")
      ? undefined
      : packTexts(left.map((text) => Buffer.from(text)));
  }
}

/** The bytes of a pack: content and metadata of each slot in turn, empty where it has none. */
export function packTexts(texts: readonly Uint8Array[]): Uint8Array {
  const size = texts.reduce((sum, text) => sum + text.length + 1, -1);
  const plain = Buffer.allocUnsafe(size);
  let end = 0;
  for (const text of texts) {
    if (end > 0) plain[end - 1] = END;
    plain.set(text, end);
    end += text.length + 1;
  }
  return zstdCompressSync(plain, {
    chunkSize: Math.max(1_024, size >> 1),
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
  });
}

/** Whether a pack gives the text back as it is. */
export function isPackable(text: Uint8Array): boolean {
  return text.length > 0 && !text.includes(END);
}
