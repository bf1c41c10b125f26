/**
 * The layout of a vector segment.
 *
 * Vectors are ordered by (session, sequence), those of notes last. They are stored in slabs, each
 * with a blob of columns (`vector-columns.ts`) and a blob of codes and factors, which stays in
 * memory. The int8 values have their own blobs, which are read for candidates only.
 */

export const VECTOR_FORMAT = 2;

/** Vectors in a slab: the most that one scan scores. */
export const SLAB = 8_192;

/** Role codes of notes. */
export const NOTE_ROLES = { memory: 8, fact: 9 } as const;

/** The maximum number of messages in a piece, beside the first. */
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
