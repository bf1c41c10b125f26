/**
 * Parses `COPY … TO STDOUT (FORMAT binary)`, the only way `pg` returns bytes as bytes: in a row
 * they travel as hex.
 */

import pg from "pg";
import type { Row } from "../records.ts";

/** Types of the columns of a copy, in order. A number is a `bigint`. */
export type CopiedColumns = Readonly<Record<string, "number" | "bytes">>;

/** Signature, flags, and an empty extension. */
const HEADER_BYTES = 19;
const NULL_LENGTH = -1;

export class BinaryCopy extends pg.Query {
  readonly received: Row[] = [];
  readonly #columns: readonly (readonly [name: string, kind: CopiedColumns[string]])[];
  /** Received bytes of an incomplete row. */
  #rest = Buffer.alloc(0);
  #begun = false;

  /** `done` is called once, with the error if any: the driver does not always emit its events. */
  constructor(sql: string, columns: CopiedColumns, done: (error?: Error | null) => void) {
    super(sql, undefined, done);
    this.#columns = Object.entries(columns);
  }

  /** Called by the driver. `chunk` is a view of reused memory. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    if (!this.#begun) {
      if (this.#rest.length < HEADER_BYTES) return;
      this.#begun = true;
      this.#rest = this.#rest.subarray(HEADER_BYTES);
    }
    for (;;) {
      const length = this.#readRow(this.#rest);
      if (length === undefined) return;
      this.#rest = this.#rest.subarray(length);
    }
  }

  /** Takes the first row of `bytes` and gives its length; undefined if it is incomplete. */
  #readRow(bytes: Buffer): number | undefined {
    // A column count of -1 ends the stream.
    if (bytes.length < 2 || bytes.readInt16BE(0) < 0) return undefined;
    let at = 2;
    const row: Record<string, Row[string]> = {};
    for (const [name, kind] of this.#columns) {
      if (at + 4 > bytes.length) return undefined;
      const length = bytes.readInt32BE(at);
      at += 4;
      const end = at + Math.max(0, length);
      if (end > bytes.length) return undefined;
      if (length === NULL_LENGTH) row[name] = null;
      else row[name] = kind === "bytes" ? bytes.subarray(at, end) : readNumber(bytes, at);
      at = end;
    }
    this.received.push(row);
    return at;
  }
}

/** Our integers are far below 2^53. */
function readNumber(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
