/** Packs records into blobs, the unit of reading. */

import { ByteWriter } from "./bytes.ts";
import type { Address } from "./layout.ts";

export interface PackedBlob {
  readonly blob: number;
  readonly bytes: Uint8Array;
}

/** Assigns the numbers of a segment's blobs. 0 is the header's. */
export class BlobNumbers {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/** Short records share a blob; a long one has its own. Records are aligned to four bytes. */
export class BlobPacker {
  readonly #numbers: BlobNumbers;
  readonly #targetBytes: number;
  readonly #writer = new ByteWriter();
  readonly #ready: PackedBlob[] = [];
  /** A long record that is the blob. */
  #whole: Uint8Array | undefined;
  #number: number;

  constructor(numbers: BlobNumbers, targetBytes: number) {
    this.#numbers = numbers;
    this.#targetBytes = targetBytes;
    this.#number = numbers.next();
  }

  /** Long records are not copied: the caller must not change them. */
  add(record: Uint8Array): Address {
    if (record.length <= this.#targetBytes) return this.#add(record, record.length);
    this.#closeIfBegun();
    this.#whole = record;
    return [this.#number, 0, record.length];
  }

  /** Adds the writer's bytes and resets the writer. */
  addWritten(record: ByteWriter): Address {
    const address = this.#add(record.room, record.length);
    record.clear();
    return address;
  }

  #add(record: Uint8Array, length: number): Address {
    const isFull = this.#writer.length + length > this.#targetBytes;
    if (isFull || this.#whole !== undefined) this.#closeIfBegun();
    this.#writer.align(4);
    const address: Address = [this.#number, this.#writer.length, length];
    this.#writer.copy(record, 0, length);
    return address;
  }

  /** The completed blobs, each once. */
  takeReady(): PackedBlob[] {
    return this.#ready.splice(0);
  }

  finish(): PackedBlob[] {
    this.#closeIfBegun();
    return this.takeReady();
  }

  #closeIfBegun(): void {
    if (this.#writer.length === 0 && this.#whole === undefined) return;
    this.#ready.push({ blob: this.#number, bytes: this.#whole ?? this.#writer.take() });
    this.#whole = undefined;
    this.#number = this.#numbers.next();
  }
}
