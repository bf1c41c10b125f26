/** A text whose bytes come in several chunks, as one that is decoded at its end. */

import { isAscii } from "node:buffer";

export interface Text {
  /** Undefined if it was too long. */
  readonly text: string | undefined;
  readonly isDamaged: boolean;
}

/** What is there of a text that goes on in the next chunk; nothing of one that is too long. */
export class Pieces {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    // A copy: whoever reads the file may fill the same memory again.
    if (this.#length > this.#maxBytes) this.#parts = [];
    else this.#parts.push(Buffer.from(part));
  }

  /** With its last part, which need not be copied. */
  take(last: Buffer = Buffer.alloc(0)): Text {
    const isTooLong = this.#length + last.length > this.#maxBytes;
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#length = 0;
    return isTooLong ? { text: undefined, isDamaged: false } : decode(whole);
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function decode(bytes: Buffer): Text {
  if (isAscii(bytes)) return { text: bytes.toString("latin1"), isDamaged: false };
  try {
    return { text: strict.decode(bytes), isDamaged: false };
  } catch {
    return { text: lenient.decode(bytes), isDamaged: true };
  }
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
