/** Writes a segment of vectors, with one slab in memory at a time. */

import { ByteWriter } from "../index/bytes.ts";
import { ask, type SansIo } from "../port.ts";
import { BLOCK, codeBytes, type Quantized, writeCode } from "./quantize.ts";
import { emptyVectorColumns, writeVectorColumns } from "./vector-columns.ts";
import {
  codesBlob,
  columnsBlob,
  HEADER_BLOB,
  KEYS_BLOB,
  MAX_SPAN,
  SLAB,
  VECTOR_FORMAT,
  type VectorHeader,
  valuesBlob,
  valuesPerBlob,
} from "./vector-layout.ts";
import type { PieceInfo } from "./vector-port.ts";

export class VectorWriter {
  readonly #segment: number;
  readonly #dimensions: number;
  readonly #columns = emptyVectorColumns(SLAB);
  readonly #codes: Uint8Array;
  readonly #factors = new Float32Array(SLAB);
  readonly #values: Uint8Array;
  readonly #keys: string[] = [];
  #ready: { readonly blob: number; readonly bytes: Uint8Array }[] = [];
  #count = 0;
  #bytes = 0;

  constructor(segment: number, dimensions: number) {
    this.#segment = segment;
    this.#dimensions = dimensions;
    this.#codes = new Uint8Array(codeBytes(SLAB, dimensions));
    this.#values = new Uint8Array(valuesPerBlob(dimensions) * dimensions);
  }

  /** Expects segment order: messages first. */
  *add(piece: PieceInfo, quantized: Quantized): SansIo<void> {
    const at = this.#count % SLAB;
    const { sessions, sequences, spans, roles, seconds } = this.#columns;
    sessions[at] = piece.session;
    sequences[at] = piece.sequence;
    spans[at] = Math.min(MAX_SPAN, piece.last - piece.sequence);
    roles[at] = piece.role;
    seconds[at] = Math.max(0, Math.floor(piece.time / 1_000));
    if (piece.key !== null) this.#keys.push(piece.key);
    this.#factors[at] = writeCode(this.#codes, at, quantized);
    const perBlob = valuesPerBlob(this.#dimensions);
    const values = new Uint8Array(quantized.values.buffer, quantized.values.byteOffset);
    this.#values.set(
      values.subarray(0, this.#dimensions),
      (this.#count % perBlob) * this.#dimensions,
    );
    this.#count++;
    if (this.#count % perBlob === 0) this.#endValues(perBlob);
    if (this.#count % SLAB === 0) yield* this.#endSlab();
  }

  /** Gives the fields of its manifest entry. */
  *finish(): SansIo<{ readonly documents: number; readonly bytes: number }> {
    const count = this.#count;
    const rest = count % valuesPerBlob(this.#dimensions);
    if (rest > 0) this.#endValues(rest);
    if (count % SLAB > 0) yield* this.#endSlab();
    const keys = new ByteWriter();
    for (const key of this.#keys) keys.text(key);
    this.#put(KEYS_BLOB, keys.take());
    const header: VectorHeader = {
      format: VECTOR_FORMAT,
      dimensions: this.#dimensions,
      count,
      notes: this.#keys.length,
    };
    this.#put(HEADER_BLOB, new TextEncoder().encode(JSON.stringify(header)));
    yield* this.#write();
    return { documents: count, bytes: this.#bytes };
  }

  #endValues(vectors: number): void {
    const bytes = this.#values.slice(0, vectors * this.#dimensions);
    this.#put(valuesBlob(this.#count - 1, this.#dimensions), bytes);
  }

  /** Codes, then factors, padded to whole blocks. */
  *#endSlab(): SansIo<void> {
    const slab = Math.floor((this.#count - 1) / SLAB);
    const vectors = this.#count - slab * SLAB;
    const codes = codeBytes(vectors, this.#dimensions);
    const factors = 4 * BLOCK * Math.ceil(vectors / BLOCK);
    const bytes = new Uint8Array(codes + factors);
    bytes.set(this.#codes.subarray(0, codes));
    bytes.set(new Uint8Array(this.#factors.buffer, 0, 4 * vectors), codes);
    this.#put(columnsBlob(slab), writeVectorColumns(this.#columns, vectors));
    this.#put(codesBlob(slab), bytes);
    this.#codes.fill(0);
    yield* this.#write();
    yield* ask<"yield">({ need: "yield", gentle: true });
  }

  #put(blob: number, bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#ready.push({ blob, bytes });
  }

  *#write(): SansIo<void> {
    yield* ask<"write">({ need: "write", segment: this.#segment, blobs: this.#ready });
    this.#ready = [];
  }
}
