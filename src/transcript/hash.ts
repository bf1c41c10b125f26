/**
 * Hashes that make the log tamper-evident.
 *
 * An entry's hash covers its parent's, so that a leaf's hash stands for its whole path. A change's
 * hash covers its predecessor's, so that the newest one stands for the whole feed. Content is hashed
 * behind a random nonce: a short message cannot be guessed from its hash once it is erased.
 */

import { hash } from "node:crypto";

export const HASH_BYTES = 32;
export const NONCE_BYTES = 16;

/** What the first entry of a path, and the first change of a feed, build upon. */
export const ZERO_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

/** Where an entry stands; part of what its hash covers. */
export interface HashedPlace {
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** The columns of an entry that never change. */
export interface HashedColumns {
  readonly id: string;
  readonly sessionId: string;
  readonly kind: string;
  readonly role: string | null;
  readonly actor: string | null;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheCreationTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly metadata: string | null;
  readonly copiedFrom: string | null;
  readonly createdAt: number;
}

export interface HashedChange {
  readonly kind: string;
  readonly at: number;
  readonly sessionId: string | null;
  readonly entryId: string | null;
  readonly entryHash: Uint8Array | null;
  readonly details: string | null;
}

export function sha256(bytes: Uint8Array): Buffer {
  // Asking for a string and decoding it into pooled memory is twice as fast as asking for a buffer.
  return Buffer.from(hash("sha256", bytes, "binary"), "binary");
}

export function contentHash(nonce: Uint8Array, content: string): Buffer {
  const room = scratchFor(NONCE_BYTES + content.length * 3);
  room.set(nonce, 0);
  const length = NONCE_BYTES + room.write(content, NONCE_BYTES);
  return sha256(room.subarray(0, length));
}

export function entryHash(
  parent: Uint8Array,
  content: Uint8Array,
  place: HashedPlace,
  columns: HashedColumns,
): Buffer {
  const header = join([
    columns.id,
    columns.sessionId,
    columns.kind,
    columns.role,
    columns.actor,
    columns.model,
    columns.adapter,
    columns.inputTokens,
    columns.outputTokens,
    columns.cacheCreationTokens,
    columns.cacheReadTokens,
    columns.metadata,
    columns.copiedFrom,
    columns.createdAt,
    place.sequence,
    place.chain,
    place.depth,
    place.ordinal,
  ]);
  const room = scratchFor(2 * HASH_BYTES + header.length * 3);
  room.set(parent, 0);
  room.set(content, HASH_BYTES);
  const length = 2 * HASH_BYTES + room.write(header, 2 * HASH_BYTES);
  return sha256(room.subarray(0, length));
}

/**
 * The bytes of a change that its hash covers, the position and the predecessor aside: those are known
 * only at the end of the transaction, and PostgreSQL adds them itself.
 */
export function changeBody(change: HashedChange): Buffer {
  return Buffer.from(
    join([
      change.kind,
      change.at,
      change.sessionId,
      change.entryId,
      change.entryHash === null ? null : toHex(change.entryHash),
      change.details,
    ]),
  );
}

/** SHA-256(previous hash ‖ position as 8 bytes, big-endian ‖ body). */
export function changeHash(previous: Uint8Array, position: number, body: Uint8Array): Buffer {
  const room = scratchFor(HASH_BYTES + 8 + body.length);
  room.set(previous, 0);
  room.writeBigUInt64BE(BigInt(position), HASH_BYTES);
  room.set(body, HASH_BYTES + 8);
  return sha256(room.subarray(0, HASH_BYTES + 8 + body.length));
}

/**
 * Fields behind each other, a NUL after each and a U+0001 for one that is absent: no field can hold
 * either, so no two lists give the same text.
 */
function join(fields: readonly (string | number | null)[]): string {
  let text = "";
  for (const field of fields) text += field === null ? "\u0001\0" : `${field}\0`;
  return text;
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

export function fromHex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}

/** Shared working memory: hashing is synchronous, so no two users can meet in it. */
let scratch = Buffer.alloc(16 * 1024);

function scratchFor(bytes: number): Buffer {
  if (bytes <= 64 * 1024) {
    if (scratch.length < bytes) scratch = Buffer.alloc(64 * 1024);
    return scratch;
  }
  return Buffer.allocUnsafe(bytes);
}
