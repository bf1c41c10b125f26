/** Finding a term of a field: which block it is in, and what that block says of it. */

import type { Address } from "./blob-packer.ts";
import { ByteReader } from "./bytes.ts";
import { readAddress } from "./field-writer.ts";

/**
 * The blocks of a field's dictionary, in order. A large segment has thousands, which stay in memory
 * for as long as it is searched: where they lie is kept as numbers, not as objects.
 */
export class DictionaryIndex {
  readonly firstTerms: readonly string[];
  /** Nine numbers for each block: three addresses. */
  readonly #places: Float64Array;

  constructor(firstTerms: readonly string[], places: Float64Array) {
    this.firstTerms = firstTerms;
    this.#places = places;
  }

  get length(): number {
    return this.firstTerms.length;
  }

  block(number: number): DictionaryBlock | undefined {
    if (number < 0 || number >= this.length) return undefined;
    return {
      entries: this.#address(9 * number),
      postings: this.#address(9 * number + 3),
      positions: this.#address(9 * number + 6),
    };
  }

  #address(at: number): Address {
    const places = this.#places;
    return [places[at] as number, places[at + 1] as number, places[at + 2] as number];
  }
}

export interface DictionaryBlock {
  readonly entries: Address;
  readonly postings: Address;
  readonly positions: Address;
}

/** What the dictionary says of a term. */
export interface TermEntry {
  readonly term: string;
  /** Documents that have it, deleted ones included. */
  readonly documents: number;
  readonly isLong: boolean;
  /** The postings of a short list; of a long one, the table of its chunks. */
  readonly postings: Address;
  /** Of a short list. */
  readonly positions: Address;
}

export function readDictionaryIndex(bytes: Uint8Array): DictionaryIndex {
  const reader = new ByteReader(bytes);
  const firstTerms: string[] = [];
  const places: number[] = [];
  while (!reader.done) {
    firstTerms.push(reader.text());
    for (let i = 0; i < 3; i++) places.push(...readAddress(reader));
  }
  return new DictionaryIndex(firstTerms, Float64Array.from(places));
}

/** The block that holds `term` if any does: the last one that does not begin after it. */
export function blockOf({ firstTerms }: DictionaryIndex, term: string): number {
  let low = 0;
  let high = firstTerms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firstTerms[middle] as string) <= term) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function readBlock(block: DictionaryBlock, bytes: Uint8Array): TermEntry[] {
  const reader = new ByteReader(bytes);
  const entries: TermEntry[] = [];
  let term = "";
  const [postingsBlob, postingsStart] = block.postings;
  const [positionsBlob, positionsStart] = block.positions;
  let postingsAt = postingsStart;
  let positionsAt = positionsStart;
  while (!reader.done) {
    const shared = reader.varint();
    term = term.slice(0, shared) + reader.text();
    const count = reader.varint();
    const postingsLength = reader.varint();
    const positionsLength = reader.varint();
    const postings: Address = [postingsBlob, postingsAt, postingsLength];
    const positions: Address = [positionsBlob, positionsAt, positionsLength];
    entries.push(toEntry(term, count, postings, positions));
    postingsAt += postingsLength;
    positionsAt += positionsLength;
  }
  return entries;
}

/**
 * The entry of one term, without making those of the others: a block is looked into far more often
 * than it is read as a whole. Undefined if the block does not have it.
 */
export function findEntry(
  block: DictionaryBlock,
  bytes: Uint8Array,
  term: string,
): TermEntry | undefined {
  // How far terms agree is counted in characters; only here are these also bytes.
  if (!isAscii(term)) return readBlock(block, bytes).find((entry) => entry.term === term);
  const reader = new ByteReader(bytes);
  const [postingsBlob, postingsStart] = block.postings;
  const [positionsBlob, positionsStart] = block.positions;
  let postingsAt = postingsStart;
  let positionsAt = positionsStart;
  /** How much of the term the entry before began with. */
  let agreed = 0;
  while (!reader.done) {
    const shared = reader.varint();
    const length = reader.varint();
    let isFound = false;
    if (shared <= agreed) {
      agreed = shared;
      while (
        agreed - shared < length &&
        agreed < term.length &&
        bytes[reader.at + agreed - shared] === term.charCodeAt(agreed)
      )
        agreed++;
      isFound = agreed === term.length && agreed - shared === length;
    }
    reader.at += length;
    const count = reader.varint();
    const postingsLength = reader.varint();
    const positionsLength = reader.varint();
    if (isFound) {
      const postings: Address = [postingsBlob, postingsAt, postingsLength];
      return toEntry(term, count, postings, [positionsBlob, positionsAt, positionsLength]);
    }
    postingsAt += postingsLength;
    positionsAt += positionsLength;
  }
  return undefined;
}

/** `count` is twice the documents, and one more for a long list. */
function toEntry(term: string, count: number, postings: Address, positions: Address): TermEntry {
  const isLong = count % 2 === 1;
  return { term, documents: Math.floor(count / 2), isLong, postings, positions };
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
