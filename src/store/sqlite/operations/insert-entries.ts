/** Inserts the rows of planned entries. */

import { NONCE_BYTES } from "../../../transcript/hash.ts";
import type { AppendRequest } from "../../records.ts";
import { ENTRY_COLUMNS, type EntryRow } from "../../rows/entry-row.ts";
import { insertRows, runInTens } from "../insert-rows.ts";
import {
  type PackableEntry,
  type PreparedPack,
  preparePack,
  type StoredParts,
  writePack,
} from "../packs/write-pack.ts";
import type { SqliteConnection, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { parentAfter, type WrittenRow } from "./entry-columns.ts";
import type { FeedPlan } from "./feed.ts";
import { type FeedRow, feedRows } from "./feed-rows.ts";

/** An entry's row before it is written. */
interface NewRow extends EntryRow {
  readonly tenant: number;
  readonly session: number;
  readonly fed: FeedRow;
  /** The row of a history, and the one before it. */
  readonly parts: StoredParts | undefined;
  readonly before: WrittenRow | undefined;
}

type WriteValue = (row: NewRow) => SqlValue;

/** The columns of a row, in order: those of both databases, and what this one stores in its way. */
const COLUMNS: ReadonlyMap<string, WriteValue> = new Map<string, WriteValue>([
  ["tenant", ({ tenant }) => tenant],
  ["entry", ({ fed }) => fed.number],
  ["session", ({ session }) => session],
  ...Object.entries(ENTRY_COLUMNS).flatMap(([name, { write }]): [string, WriteValue][] =>
    write === undefined ? [] : [[name, write]],
  ),
  ["parent_id", (row) => parentAfter(row, row.fed, row.before)],
  ["content", ({ content, parts }) => (parts === undefined ? content : parts.content)],
  [
    "metadata",
    ({ entry, parts }) => (parts === undefined ? toBytes(entry.metadata) : parts.metadata),
  ],
  ["fed_at", ({ fed }) => fed.at],
  ["fed_hash", ({ fed }) => fed.hash],
  ["fed_usage", ({ fed }) => toBytes(fed.usage?.change.details)],
  ["fed_usage_hash", ({ fed }) => fed.usage?.hash ?? null],
  ["pack", ({ parts }) => parts?.pack ?? null],
]);

/** An INSERT that leaves out columns where their value is the same in all rows. */
interface Insert {
  readonly one: string;
  readonly ten: string;
  readonly valuesOf: (row: NewRow) => SqlValue[];
  /** Whether a row has the values that it leaves out. */
  readonly fits: (row: NewRow) => boolean;
}

function insertWithout(name: string, omitted: Readonly<Record<string, string | null>>): Insert {
  const same = Object.entries(omitted);
  const writeSame = same.map(([column]) => COLUMNS.get(column) as WriteValue);
  const set = same.filter(([, value]) => value !== null);
  const kept = [...COLUMNS].filter(([name]) => !(name in omitted));
  const values = kept.map(([, write]) => write);
  const insert = `INSERT INTO entries (${[...kept, ...set].map(([name]) => name).join(", ")})
    VALUES (${[...kept.map(() => "?"), ...set.map(([, value]) => `'${value}'`)].join(", ")})`;
  const texts = { one: insertRows(1, insert), ten: insertRows(10, insert) };
  return {
    ...statements(`insert_${name}_entries`, texts),
    valuesOf: (row) => values.map((write) => write(row)),
    fits: (row) => writeSame.every((write, i) => write(row) === same[i]?.[1]),
  };
}

/** Unused values are not converted: plain rows take a fifth less time. */
const INSERTS = {
  /** For most entries: committed messages. */
  plain: insertWithout("plain", {
    kind: "message",
    status: "committed",
    adapter: null,
    input_tokens: null,
    output_tokens: null,
    cache_creation_tokens: null,
    cache_read_tokens: null,
    metadata: null,
    copied_from: null,
    pack: null,
  }),
  /** For most entries of a history: their metadata is packed. */
  packed: insertWithout("packed", {
    status: "committed",
    adapter: null,
    metadata: null,
    copied_from: null,
    fed_usage: null,
    fed_usage_hash: null,
  }),
  whole: insertWithout("whole", {}),
};

/** Packs compressed before the write lock was taken. */
const prepared = new WeakMap<AppendRequest, PreparedPack>();

/** Outside of a transaction: prepares the packs of a history. */
export function packAhead(request: AppendRequest): void {
  if (request.isHistory && !prepared.has(request)) prepared.set(request, packOf(request));
}

function packOf({ entries }: AppendRequest): PreparedPack {
  return preparePack(
    entries.map((entry): PackableEntry => {
      const { kind, role, encoded, metadata } = entry;
      const content = encoded?.subarray(NONCE_BYTES) ?? Buffer.from(entry.content);
      return { kind, role, content, metadata: toBytes(metadata) };
    }),
  );
}

/** Packs the rows of a history. Their sequences have no gaps, as a pack requires. */
export function packRows(
  db: SqliteConnection,
  tenant: number,
  session: number,
  request: AppendRequest,
  rows: readonly EntryRow[],
): StoredParts[] {
  const first = rows[0]?.place.sequence ?? 0;
  return writePack(db, tenant, session, first, prepared.get(request) ?? packOf(request));
}

function toBytes(text: string | null | undefined): Buffer | null {
  return text === null || text === undefined ? null : Buffer.from(text);
}

export function insertEntries(
  db: SqliteConnection,
  tenant: number,
  session: number,
  rows: readonly EntryRow[],
  feed: FeedPlan,
  parts: readonly StoredParts[] | undefined,
): void {
  const fedRows = feedRows(rows, feed.changes, feed.tenant.rowBeforeFeed);
  let before: WrittenRow | undefined;
  const newRows = rows.map((row, i): NewRow => {
    const fed = fedRows[i] as FeedRow;
    const { entry, place, status, nonce, content, hash, hex } = row;
    // Field by field: a spread takes longer than the conversion of a row.
    const own = {
      entry,
      place,
      status,
      nonce,
      content,
      hash,
      hex,
      tenant,
      session,
      fed,
      parts: parts?.[i],
      before,
    };
    if (parts !== undefined) before = { row, fed };
    return own;
  });
  const inserts = [INSERTS.plain, INSERTS.packed];
  const { one, ten, valuesOf } = inserts.find(({ fits }) => newRows.every(fits)) ?? INSERTS.whole;
  runInTens(db, one, ten, newRows, valuesOf);
}
