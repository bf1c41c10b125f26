/**
 * Hash chains, as of git commits, that make the log tamper-evident.
 *
 * An entry's hash covers its parent's, so a leaf's hash covers its whole path. A change's hash
 * covers its predecessor's, so the newest covers the whole feed. Content is hashed with a random
 * nonce: a short message cannot be guessed from its hash once it is erased.
 */

import { hash } from "node:crypto";

export const HASH_BYTES = 32;
export const NONCE_BYTES = 16;

/** The predecessor of the first entry of a path and of the first change of a feed. */
export const ZERO_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

/**
 * Marks an absent field. Fields are concatenated with a NUL after each; none can contain a NUL or
 * this mark, so the encoding is injective.
 */
const ABSENT = "\u0001";

/** The place of an entry, which its hash covers. */
export interface HashedPlace {
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** The immutable columns of an entry. */
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
  /** The hash in hex, if known. */
  readonly entryHex?: string;
  readonly details: string | null;
}

export function sha256(bytes: Uint8Array): Buffer {
  // Decoding a string into pooled memory is twice as fast as requesting a buffer.
  return Buffer.from(digest(bytes), "binary");
}

/** The hash as a binary string, to feed into another hash. */
export function digest(bytes: Uint8Array): string {
  return hash("sha256", bytes, "binary");
}

export function contentHash(nonce: Uint8Array, content: string): Buffer {
  const room = scratchFor(NONCE_BYTES + content.length * 3);
  room.set(nonce, 0);
  const length = NONCE_BYTES + room.write(content, NONCE_BYTES);
  return sha256(firstOf(room, length));
}

/** The digest as latin1, from a nonce in hex; undefined if it is not a nonce. */
export function contentDigest(nonceHex: string, content: string): string | undefined {
  const room = scratchFor(NONCE_BYTES + content.length * 3);
  if (room.write(nonceHex, 0, "hex") !== NONCE_BYTES) return undefined;
  const length = NONCE_BYTES + room.write(content, NONCE_BYTES);
  return digest(firstOf(room, length));
}

export function entryHash(
  parent: Uint8Array,
  content: Uint8Array,
  place: HashedPlace,
  columns: HashedColumns,
): Uint8Array {
  return fromHex(entryHex(parent, toBinary(content), place, columns));
}

/** `entryHash` in hex. `parent` may be hex too; `content` is the digest of nonce and content. */
export function entryHex(
  parent: Uint8Array | string,
  content: string,
  place: HashedPlace,
  columns: HashedColumns,
): string {
  const { sequence, chain, depth, ordinal } = place;
  const header =
    `${columns.id}\0${sharedText(columns)}${columns.createdAt}\0${sequence}\0${chain}\0` +
    `${depth}\0${ordinal}\0`;
  const room = scratchFor(2 * HASH_BYTES + header.length * 3);
  if (typeof parent !== "string") room.set(parent, 0);
  else if (room.write(parent, 0, "hex") !== HASH_BYTES) room.fill(0, 0, HASH_BYTES);
  room.write(content, HASH_BYTES, "binary");
  const length = 2 * HASH_BYTES + room.write(header, 2 * HASH_BYTES);
  return hash("sha256", firstOf(room, length), "hex");
}

/** Columns that messages of one session mostly share. */
type SharedColumns = Omit<HashedColumns, "id" | "createdAt">;

/**
 * The shared columns of the last messages with their texts (a small cache). A conversation
 * alternates.
 */
const recent: { readonly columns: SharedColumns; readonly text: string }[] = [];
const RECENT = 4;
let oldest = 0;

/** Their concatenated fields. Building them takes longer than comparing the columns. */
function sharedText(columns: SharedColumns): string {
  for (const { columns: known, text } of recent) if (isSame(known, columns)) return text;
  const { sessionId, kind, role, actor, model, adapter, metadata, copiedFrom } = columns;
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = columns;
  // One template literal: joining a list costs as much as the hash itself.
  const text =
    `${sessionId}\0${kind}\0${role ?? ABSENT}\0${actor ?? ABSENT}\0${model ?? ABSENT}\0` +
    `${adapter ?? ABSENT}\0${inputTokens ?? ABSENT}\0${outputTokens ?? ABSENT}\0` +
    `${cacheCreationTokens ?? ABSENT}\0${cacheReadTokens ?? ABSENT}\0${metadata ?? ABSENT}\0` +
    `${copiedFrom ?? ABSENT}\0`;
  // Texts with usage, metadata or copiedFrom are not cached: they do not recur.
  if (inputTokens !== null || metadata !== null || copiedFrom !== null) return text;
  // Decoding flattens V8's rope string.
  const whole = Buffer.from(text).toString();
  // Copies the compared fields: the caller may have passed a whole entry.
  const known = {
    sessionId,
    kind,
    role,
    actor,
    model,
    adapter,
    metadata,
    copiedFrom,
    inputTokens,
    outputTokens,
    cacheCreationTokens,
    cacheReadTokens,
  };
  recent[oldest] = { columns: known, text: whole };
  oldest = (oldest + 1) % RECENT;
  return whole;
}

function isSame(a: SharedColumns, b: SharedColumns): boolean {
  return (
    a.role === b.role &&
    a.metadata === b.metadata &&
    a.inputTokens === b.inputTokens &&
    a.outputTokens === b.outputTokens &&
    a.cacheCreationTokens === b.cacheCreationTokens &&
    a.cacheReadTokens === b.cacheReadTokens &&
    a.copiedFrom === b.copiedFrom &&
    a.kind === b.kind &&
    a.sessionId === b.sessionId &&
    a.actor === b.actor &&
    a.model === b.model &&
    a.adapter === b.adapter
  );
}

/** The remaining columns of an erased entry. */
export interface TombstoneColumns {
  readonly id: string;
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly kind: string;
  readonly role: string | null;
  readonly copiedFrom: string | null;
  readonly createdAt: number;
}

/**
 * The hash of a tombstone's columns after the entry's original hash. The original can no longer be
 * computed; this one can, and the feed has it.
 */
export function tombstoneHash(
  entry: Uint8Array,
  place: HashedPlace,
  columns: TombstoneColumns,
): Buffer {
  const { id, sessionId, parentId, kind, role, copiedFrom, createdAt } = columns;
  const text =
    `${id}\0${sessionId}\0${parentId ?? ABSENT}\0${kind}\0${role ?? ABSENT}\0` +
    `${copiedFrom ?? ABSENT}\0${createdAt}\0${place.sequence}\0${place.chain}\0${place.depth}\0` +
    `${place.ordinal}\0`;
  return sha256(Buffer.concat([entry, Buffer.from(text)]));
}

/**
 * The hashed text of a change without position and predecessor, which are known only at the end of
 * the transaction; PostgreSQL adds them itself.
 */
export function changeBody(change: HashedChange): string {
  const { kind, at, sessionId, entryId, entryHash: hashOfEntry, details } = change;
  const hex = hashOfEntry === null ? ABSENT : (change.entryHex ?? toHex(hashOfEntry));
  return `${kind}\0${at}\0${sessionId ?? ABSENT}\0${entryId ?? ABSENT}\0${hex}\0${details ?? ABSENT}\0`;
}

/** SHA-256(previous hash ‖ position as 8 bytes, big-endian ‖ body in UTF-8). */
export function changeHash(previous: Uint8Array, position: number, body: string): Buffer {
  const room = scratchFor(HASH_BYTES + 8 + body.length * 3);
  room.set(previous, 0);
  room.writeUInt32BE(Math.floor(position / 2 ** 32), HASH_BYTES);
  room.writeUInt32BE(position % 2 ** 32, HASH_BYTES + 4);
  const length = HASH_BYTES + 8 + room.write(body, HASH_BYTES + 8);
  return sha256(firstOf(room, length));
}

export function toHex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("hex");
}

function toBinary(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("binary");
}

/** A `Buffer` over the same memory; a buffer is returned as it is, because a new view is costly. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function fromHex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}

/** Shared scratch memory: hashing is synchronous, so uses cannot overlap. */
const scratch = Buffer.alloc(64 * 1024);

function scratchFor(bytes: number): Buffer {
  return bytes <= scratch.length ? scratch : Buffer.allocUnsafe(bytes);
}

/** Views of the scratch memory by length. Creating one takes half as long as a hash. */
const views: (Buffer | undefined)[] = new Array(1_024).fill(undefined);

function firstOf(room: Buffer, length: number): Buffer {
  if (room !== scratch || length >= views.length) return room.subarray(0, length);
  let view = views[length];
  if (view === undefined) {
    view = room.subarray(0, length);
    views[length] = view;
  }
  return view;
}
