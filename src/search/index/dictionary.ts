/**
 * The term dictionary of a field: front-coded blocks of terms, found by binary search in a sparse
 * block index.
 */

import { ByteReader } from "./bytes.ts";
import { readAddress } from "./field-writer.ts";
import type { Address } from "./layout.ts";

/**
 * The blocks of a field's dictionary, in order. A large segment has thousands, which stay in memory
 * while it is searched, so they are kept encoded and decoded on demand. A process that searches
 * once needs a few dozen.
 */
export class DictionaryIndex {
  readonly #bytes: Uint8Array;
  /** The start of each block in the bytes. */
  readonly #starts: Uint32Array;
  /** Decoded first terms: a look-up needs a dozen, mostly the same. */
  readonly #terms: string[];

  constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.#bytes = bytes;
    this.#starts = starts;
    this.#terms = new Array(starts.length);
  }

  get length(): number {
    return this.#starts.length;
  }

  /** The first term of a block. */
  term(number: number): string {
    const known = this.#terms[number];
    if (known !== undefined) return known;
    const term = new ByteReader(this.#bytes, this.#starts[number]).text();
    this.#terms[number] = term;
    return term;
  }

  block(number: number): DictionaryBlock | undefined {
    if (number < 0 || number >= this.length) return undefined;
    const reader = new ByteReader(this.#bytes, this.#starts[number]);
    reader.slice(reader.varint());
    return {
      entries: readAddress(reader),
      postings: readAddress(reader),
      positions: readAddress(reader),
    };
  }
}

/** The varints of a block's three addresses. */
const ADDRESSES = 9;

export interface DictionaryBlock {
  readonly entries: Address;
  readonly postings: Address;
  readonly positions: Address;
}

/** The dictionary's entry of a term. */
export interface TermEntry {
  readonly term: string;
  /** Documents that contain it, deleted ones included. */
  readonly documents: number;
  readonly isLong: boolean;
  /** The postings of a short list; of a long one, the table of its chunks. */
  readonly postings: Address;
  /** The positions of a short list. */
  readonly positions: Address;
}

export function readDictionaryIndex(bytes: Uint8Array): DictionaryIndex {
  const reader = new ByteReader(bytes);
  const starts: number[] = [];
  while (!reader.done) {
    starts.push(reader.at);
    const length = reader.varint();
    reader.at += length;
    reader.skipVarints(ADDRESSES);
  }
  return new DictionaryIndex(bytes, Uint32Array.from(starts));
}

/** The block that may contain `term`: the last one that does not begin after it. */
export function blockOf(index: DictionaryIndex, term: string): number {
  let low = 0;
  let high = index.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (index.term(middle) <= term) low = middle + 1;
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

/** The numbers of an entry after its term. */
const ENTRY_NUMBERS = 3;

/** The terms of a block, without their entries, which would take five times the memory. */
export function readTerms(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes);
  const terms: string[] = [];
  for (let term = ""; !reader.done; terms.push(term)) {
    const shared = reader.varint();
    term = term.slice(0, shared) + reader.text();
    reader.skipVarints(ENTRY_NUMBERS);
  }
  return terms;
}

/** The entry of one term, without decoding the others. Undefined if the block does not have it. */
export function findEntry(
  block: DictionaryBlock,
  bytes: Uint8Array,
  term: string,
): TermEntry | undefined {
  // Shared prefixes are counted in characters; only for ASCII are these bytes.
  if (!isAscii(term)) return readBlock(block, bytes).find((entry) => entry.term === term);
  const reader = new ByteReader(bytes);
  const [postingsBlob, postingsStart] = block.postings;
  const [positionsBlob, positionsStart] = block.positions;
  let postingsAt = postingsStart;
  let positionsAt = positionsStart;
  /** The length of the prefix shared with the previous entry. */
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

/** `count` is twice the documents, plus one for a long list. */
function toEntry(term: string, count: number, postings: Address, positions: Address): TermEntry {
  const isLong = count % 2 === 1;
  return { term, documents: Math.floor(count / 2), isLong, postings, positions };
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
