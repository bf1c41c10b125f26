/**
 * Content-addressed storage of large payloads: compressed, deduplicated per tenant, and
 * reference-counted by entries.
 */

import type { Block } from "../../../model/block.ts";
import { blobsOf, nestedBlobsOf } from "../../../transcript/content.ts";
import { fromHex, toHex } from "../../../transcript/hash.ts";
import { isSound } from "../../index/sound-content.ts";
import {
  compressPayload,
  readPayload,
  readSoundPayload,
  type StoredPayload,
} from "../../payload-codec.ts";
import type { NewEntry, Row } from "../../records.ts";
import type { EntryRow } from "../../rows/entry-row.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("blobs", {
  exist: `SELECT hash FROM blobs WHERE tenant = $1 AND hash = ANY ($2::bytea[])`,
  insert: `INSERT INTO blobs (tenant, hash, codec, size, bytes) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING`,
  hold: `INSERT INTO entry_blobs (tenant, session, sequence, hash)
    SELECT $1::bigint, $2::bigint, sequence, hash
    FROM unnest($3::bigint[], $4::bytea[]) AS held (sequence, hash) ON CONFLICT DO NOTHING`,
  copyHolds: `INSERT INTO entry_blobs (tenant, session, sequence, hash)
    SELECT b.tenant, $3::bigint, copied.copy, b.hash
    FROM unnest($4::bigint[], $5::bigint[]) AS copied (sequence, copy)
    JOIN entry_blobs b ON b.tenant = $1 AND b.session = $2 AND b.sequence = copied.sequence`,
  read: `SELECT hash, codec, size, bytes FROM blobs WHERE tenant = $1 AND hash = ANY ($2::bytea[])`,
  release: `DELETE FROM entry_blobs WHERE tenant = $1 AND session = $2 RETURNING hash`,
  releaseThrough: `DELETE FROM entry_blobs WHERE tenant = $1 AND session = $2 AND sequence <= $3
    RETURNING hash`,
  releaseEntries: `DELETE FROM entry_blobs WHERE tenant = $1 AND session = $2
      AND sequence = ANY ($3::bigint[]) RETURNING hash`,
  collect: `DELETE FROM blobs b WHERE b.tenant = $1 AND b.hash = ANY ($2::bytea[])
    AND NOT EXISTS (SELECT 1 FROM entry_blobs e WHERE e.tenant = b.tenant AND e.hash = b.hash)
    RETURNING b.hash`,
  garbage: `SELECT b.hash FROM blobs b WHERE b.tenant = $1
    AND NOT EXISTS (SELECT 1 FROM entry_blobs e WHERE e.tenant = b.tenant AND e.hash = b.hash)
    LIMIT $2`,
});

/** Queries which payloads of `entries` exist, so that they are not sent again. */
export function payloadsQuery(tx: Transaction, entries: readonly NewEntry[]): Query | undefined {
  const hashes = entries.flatMap((entry) => entry.payloads.map((payload) => payload.hash));
  if (hashes.length === 0) return undefined;
  return query(SQL.exist, tx.tenant, [...new Set(hashes)].map(fromHex));
}

/** The answer to `payloadsQuery`: hashes in hex. */
export function toHashes(rows: readonly Row[] | undefined): Set<string> {
  return new Set((rows ?? []).map((row) => toHex(row["hash"] as Uint8Array)));
}

/** Stores missing payloads, and adds the entries' references to all of theirs. */
export function storePayloads(
  tx: Transaction,
  session: number,
  rows: readonly EntryRow[],
  stored: ReadonlySet<string>,
): void {
  const held = rows.flatMap(({ entry, place }) =>
    entry.payloads.map((payload) => ({ ...payload, sequence: place.sequence })),
  );
  if (held.length === 0) return;
  // Lock order: by hash, so that two writers of the same payloads do not deadlock.
  const missing = new Map(held.map((payload) => [payload.hash, payload.bytes]));
  for (const hash of [...missing.keys()].sort()) {
    const bytes = missing.get(hash);
    if (bytes === undefined || stored.has(hash)) continue;
    const { codec, bytes: packed } = compressPayload(bytes);
    // One statement each: an array would be another copy of megabytes.
    tx.defer(SQL.insert, tx.tenant, fromHex(hash), codec, bytes.length, packed);
  }
  const sequences = held.map((payload) => payload.sequence);
  tx.defer(
    SQL.hold,
    tx.tenant,
    session,
    sequences,
    held.map(({ hash }) => fromHex(hash)),
  );
}

/** Adds the originals' references to the copies; `copies` are pairs of sequences. */
export function copyHolds(
  tx: Transaction,
  from: number,
  to: number,
  copies: readonly (readonly [original: number, copy: number])[],
): void {
  const originals = copies.map(([original]) => original);
  tx.defer(
    SQL.copyHolds,
    tx.tenant,
    from,
    to,
    originals,
    copies.map(([, copy]) => copy),
  );
}

/** The payloads that `contents` name, by hash. Throws `store_corrupt` for a damaged one. */
export function readPayloads(
  tx: Transaction,
  contents: readonly (string | null)[],
): Promise<Map<string, Uint8Array>> {
  return collectPayloads(tx, contents, undefined, readPayload);
}

/**
 * As `readPayloads`, for a search: without damaged payloads, and on request only those in blocks of
 * some types.
 */
export function readSoundPayloads(
  tx: Transaction,
  contents: readonly (string | null)[],
  types?: readonly Block["type"][],
): Promise<Map<string, Uint8Array>> {
  return collectPayloads(tx, contents.filter(isSound), types, readSoundPayload);
}

type ReadOne = (hash: string, stored: StoredPayload | undefined) => Uint8Array | undefined;

async function collectPayloads(
  tx: Transaction,
  contents: readonly (string | null)[],
  types: readonly Block["type"][] | undefined,
  read: ReadOne,
): Promise<Map<string, Uint8Array>> {
  const payloads = new Map<string, Uint8Array>();
  const texts = contents.filter((content) => content !== null);
  const named = new Map(texts.map((text) => [text, blobsOf(text, types)]));
  await readBlobs(tx, [...named.values()].flat(), payloads, read);
  const nested = [...named].flatMap(([text, hashes]) =>
    hashes.flatMap((hash) => {
      const bytes = payloads.get(hash);
      return bytes === undefined ? [] : nestedBlobsOf(text, bytes, types);
    }),
  );
  await readBlobs(tx, nested, payloads, read);
  return payloads;
}

/** Removes a session's references, and deletes unreferenced payloads. */
export async function releasePayloads(tx: Transaction, session: number): Promise<void> {
  collectReleased(tx, await tx.all(SQL.release, tx.tenant, session));
}

/** The same for its entries up to a sequence. */
export async function releasePayloadsThrough(
  tx: Transaction,
  session: number,
  sequence: number,
): Promise<void> {
  collectReleased(tx, await tx.all(SQL.releaseThrough, tx.tenant, session, sequence));
}

/** The same for some entries. */
export async function releaseEntryPayloads(
  tx: Transaction,
  session: number,
  sequences: readonly number[],
): Promise<void> {
  collectReleased(tx, await tx.all(SQL.releaseEntries, tx.tenant, session, sequences));
}

function collectReleased(tx: Transaction, rows: readonly Row[]): void {
  if (rows.length === 0) return;
  const hashes = [...toHashes(rows)].sort().map(fromHex);
  tx.defer(SQL.collect, tx.tenant, hashes);
}

/** Queries unreferenced payloads. */
export function garbageQuery(tx: Transaction, limit: number): Query {
  return query(SQL.garbage, tx.tenant, limit);
}

/** Deletes at most `limit` unreferenced payloads and gives their number. */
export async function collectGarbage(tx: Transaction, limit: number): Promise<number> {
  const [garbage = []] = await tx.together([garbageQuery(tx, limit)]);
  if (garbage.length === 0) return 0;
  const hashes = [...toHashes(garbage)].sort().map(fromHex);
  const collected = await tx.all(SQL.collect, tx.tenant, hashes);
  return collected.length;
}

async function readBlobs(
  tx: Transaction,
  hashes: readonly string[],
  into: Map<string, Uint8Array>,
  read: ReadOne,
): Promise<void> {
  const wanted = [...new Set(hashes)].filter((hash) => !into.has(hash));
  if (wanted.length === 0) return;
  const stored = new Map<string, StoredPayload>();
  for (const row of await tx.all(SQL.read, tx.tenant, wanted.map(fromHex))) {
    const { codec, bytes, hash } = row;
    stored.set(toHex(hash as Uint8Array), { codec: String(codec), bytes: bytes as Uint8Array });
  }
  for (const hash of wanted) {
    const bytes = read(hash, stored.get(hash));
    if (bytes !== undefined) into.set(hash, bytes);
  }
}
