/** Reads the feed from a position on, with the current state of its entries and notes. */

import type { Block } from "../../../model/block.ts";
import { namespaceOf, recordOwner } from "../../../model/record.ts";
import type { FeedSlice } from "../../../search/port.ts";
import { textOrNull } from "../../damage/stored-json.ts";
import {
  emptyFeedSlice,
  FEED_CHANGE_COLUMNS,
  FEED_ERASED_COLUMNS,
  FEED_FACT_COLUMNS,
  FEED_SESSION_COLUMNS,
  FEED_SILENT,
  FEED_TOMBSTONE_COLUMNS,
  feedEntryColumns,
  nameFeed,
  toFeedSlice,
} from "../../index/feed-slice.ts";
import { PART_COLUMNS, toRecord } from "../../record/record-row.ts";
import { toMemory } from "../../rows/note-row.ts";
import { readSoundPayloads } from "../operations/blobs.ts";
import { query, type SqlValue } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { knownHead } from "./manifest.ts";

const SQL = statements("feed_slice", {
  head: `SELECT feed_position FROM tenants WHERE tenant = $1`,
  entries: `SELECT ${feedEntryColumns("c.position", (column) => column)} FROM changes c
    JOIN entries e ON e.tenant = $1 AND e.id = c.entry_id
    WHERE c.tenant = $1 AND c.position > $2 AND c.position <= $3 AND c.kind = 'entry_appended'
    ORDER BY c.position`,
  changes: `SELECT ${FEED_CHANGE_COLUMNS} FROM changes c
    LEFT JOIN sessions s ON s.tenant = $1 AND s.id = c.session_id
    WHERE c.tenant = $1 AND c.position > $2 AND c.position <= $3
      AND c.kind NOT IN ${FEED_SILENT} ORDER BY c.position`,
  sessions: `SELECT ${FEED_SESSION_COLUMNS} FROM sessions s
    WHERE s.tenant = $1 AND s.session = ANY ($2::bigint[])`,
  memories: `SELECT m.agent, m.name, m.content, m.metadata, m.created_at, m.updated_at
    FROM unnest($2::text[], $3::text[]) AS wanted (agent, name)
    JOIN memories m ON m.tenant = $1 AND m.agent = wanted.agent AND m.name = wanted.name`,
  records: `SELECT ${PART_COLUMNS.text} FROM unnest($2::text[], $3::text[]) AS wanted (namespace, key)
    JOIN records r ON r.tenant = $1 AND r.namespace = wanted.namespace AND r.key = wanted.key`,
  facts: `SELECT ${FEED_FACT_COLUMNS} FROM facts f WHERE f.tenant = $1 AND f.id = ANY ($2::text[])`,
  tombstones: `SELECT ${FEED_TOMBSTONE_COLUMNS} FROM tombstones b
    WHERE b.tenant = $1 AND b.session_id = ANY ($2::text[]) ORDER BY b.session`,
  erased: `SELECT ${FEED_ERASED_COLUMNS} FROM entries e
    WHERE e.tenant = $1 AND e.id = ANY ($2::text[]) AND e.kind = 'message'`,
});

export async function readFeedSlice(
  tx: Transaction,
  after: number,
  limit: number,
  types?: readonly Block["type"][],
): Promise<FeedSlice> {
  const known = knownHead(tx);
  if (known !== undefined && known <= after) return emptyFeedSlice(after, known);
  // Planned for this range: a generic plan would scan all entries.
  const range = [tx.tenant, after, after + limit];
  const [heads, entries = [], changes = []] = await tx.together([
    query(SQL.head, tx.tenant),
    { sql: SQL.entries, values: range, planned: "each time" },
    { sql: SQL.changes, values: range, planned: "each time" },
  ]);
  const head = Number(heads?.[0]?.["feed_position"] ?? 0);
  // Positions have no gaps.
  const names = nameFeed(entries, changes, Math.max(after, Math.min(head, after + limit)));
  const ofRecords = names.memories.filter(({ agent }) => namespaceOf(agent) !== undefined);
  const ofAgents = names.memories.filter(({ agent }) => namespaceOf(agent) === undefined);
  const ids = [...new Set(names.deletions.map(({ sessionId }) => sessionId))];
  const unless = (empty: boolean, sql: string, ...values: SqlValue[]) =>
    empty ? undefined : query(sql, tx.tenant, ...values);
  const erasedIds = names.erasures.flatMap((erasure) => erasure.ids);
  const [sessions = [], memories = [], records = [], facts = [], tombstones = [], erased = []] =
    await tx.together([
      unless(names.sessions.size === 0, SQL.sessions, [...names.sessions.keys()]),
      unless(
        ofAgents.length === 0,
        SQL.memories,
        ofAgents.map(({ agent }) => agent),
        ofAgents.map(({ name }) => name),
      ),
      unless(
        ofRecords.length === 0,
        SQL.records,
        ofRecords.map(({ agent }) => namespaceOf(agent) ?? ""),
        ofRecords.map(({ name }) => name),
      ),
      unless(names.facts.size === 0, SQL.facts, [...names.facts.keys()]),
      unless(ids.length === 0, SQL.tombstones, ids),
      unless(erasedIds.length === 0, SQL.erased, erasedIds),
    ]);
  const contents = new Map<string, string | null>();
  for (const { agent, name, content } of memories.map(toMemory)) {
    contents.set(keyOf(agent, name), content);
  }
  for (const { namespace, key, text } of records.map(toRecord)) {
    contents.set(keyOf(recordOwner(namespace), key), text);
  }
  return toFeedSlice(names, {
    head,
    payloads: await readSoundPayloads(
      tx,
      names.entries.map((row) => textOrNull(row["content"])),
      types,
    ),
    sessions,
    memories: names.memories.map(({ agent, name }) => contents.get(keyOf(agent, name)) ?? null),
    facts,
    tombstones,
    erased,
  });
}

function keyOf(agent: string, name: string): string {
  return JSON.stringify([agent, name]);
}
