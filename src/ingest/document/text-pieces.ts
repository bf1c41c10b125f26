/** Collects a text from several chunks, decoded at its end. */

import { isAscii } from "node:buffer";
import { CUT_LINE_BYTES, decodeUtf8 } from "../lines.ts";
import { CutLine } from "../long/long-line.ts";

export interface Text {
  /** Undefined if it was too long. */
  readonly text: string | undefined;
  readonly isDamaged: boolean;
  /** Its long values were cut on arrival. */
  readonly isCut: boolean;
}

/** The part of a text that continues in the next chunk; empty for one that is too long. */
export class Pieces {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #long: CutLine | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    else if (this.#length > CUT_LINE_BYTES) this.#addLong(part);
    // Copy: the file reader reuses its buffer.
    else this.#parts.push(Buffer.from(part));
  }

  /** Takes the last part without copying it. */
  take(last: Buffer = Buffer.alloc(0)): Text {
    const isTooLong = this.#length + last.length > this.#maxBytes;
    const long = this.#long;
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#length = 0;
    this.#long = undefined;
    if (isTooLong) return { text: undefined, isDamaged: false, isCut: false };
    if (long === undefined) return decode(whole);
    long.add(last);
    const { text, damage } = long.end();
    const isLost = damage === "too_long";
    return { text: isLost ? undefined : text, isDamaged: damage === "not_utf8", isCut: long.isCut };
  }

  #addLong(part: Buffer): void {
    this.#long ??= new CutLine();
    for (const before of this.#parts.splice(0)) this.#long.add(before);
    this.#long.add(part);
  }
}

function decode(bytes: Buffer): Text {
  if (isAscii(bytes)) return { text: bytes.toString("latin1"), isDamaged: false, isCut: false };
  const { text, damage } = decodeUtf8(bytes);
  return { text, isDamaged: damage !== undefined, isCut: false };
}
