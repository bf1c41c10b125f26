/**
 * How a segment of vectors is laid out.
 *
 * Vectors are in the order of (session, sequence), those of notes last. They are stored in slabs: of
 * each, one blob says what the vectors stand for, and one has their codes and factors, which are kept
 * in memory. Their int8 values are in blobs of their own, which are read for candidates only.
 */

export const VECTOR_FORMAT = 2;

/** Vectors in a slab: the scores of one scan have room for as many. */
export const SLAB = 8_192;

/** Codes that notes have in place of a role. */
export const NOTE_ROLES = { memory: 8, fact: 9 } as const;

/** Messages that one vector may stand for, beside the first. */
export const MAX_SPAN = 255;

export const HEADER_BLOB = 0;
export function columnsBlob(slab: number): number {
  return 1 + 2 * slab;
}
export function codesBlob(slab: number): number {
  return 2 + 2 * slab;
}
/** The keys of notes. */
export const KEYS_BLOB: number = 2 ** 24;
const FIRST_VALUES_BLOB: number = 2 ** 24 + 1;

/**
 * The largest blob whose row lies in one page of 8 KB: SQLite keeps 8,157 bytes of a row in the page of
 * its table, 35 of which are keys and lengths. Candidates are spread over a segment, so most reads use
 * one vector of a blob; a row of two pages takes a third more time and twice the garbage.
 */
const VALUES_BYTES = 8_122;

/** Vectors whose values share a blob. */
export function valuesPerBlob(dimensions: number): number {
  return Math.max(1, Math.floor(VALUES_BYTES / dimensions));
}

export function valuesBlob(vector: number, dimensions: number): number {
  return FIRST_VALUES_BLOB + Math.floor(vector / valuesPerBlob(dimensions));
}

export interface VectorHeader {
  readonly format: number;
  readonly dimensions: number;
  readonly count: number;
  /** Vectors of notes, which are the last. */
  readonly notes: number;
}
