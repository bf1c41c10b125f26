/** What the feed says from one position on, with the things that it names as they are now. */

import type { FeedSlice } from "../../../search/port.ts";
import {
  FEED_COLUMNS,
  FEED_FACT_COLUMNS,
  FEED_SESSION_COLUMNS,
  FEED_TOMBSTONE_COLUMNS,
  nameFeed,
  toFeedSlice,
} from "../../index/feed-slice.ts";
import { toMemory } from "../../rows/note-row.ts";
import { textOrNull } from "../../rows/text.ts";
import { readPayloads } from "../operations/blobs.ts";
import { query, type SqlValue } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("feed_slice", {
  head: `SELECT feed_position FROM tenants WHERE tenant = $1`,
  changes: `SELECT ${FEED_COLUMNS} FROM (SELECT tenant, position, at, kind, session_id, entry_id,
        details FROM changes WHERE tenant = $1 AND position > $2 ORDER BY position LIMIT $3) c
    LEFT JOIN sessions s ON s.tenant = $1 AND s.id = c.session_id
    LEFT JOIN entries e ON e.tenant = $1 AND e.id = c.entry_id AND c.kind = 'entry_appended'
    ORDER BY c.position`,
  sessions: `SELECT ${FEED_SESSION_COLUMNS} FROM sessions s
    WHERE s.tenant = $1 AND s.session = ANY ($2::bigint[])`,
  memories: `SELECT m.agent, m.name, m.content, m.metadata, m.created_at, m.updated_at
    FROM unnest($2::text[], $3::text[]) AS wanted (agent, name)
    JOIN memories m ON m.tenant = $1 AND m.agent = wanted.agent AND m.name = wanted.name`,
  facts: `SELECT ${FEED_FACT_COLUMNS} FROM facts f WHERE f.tenant = $1 AND f.id = ANY ($2::text[])`,
  tombstones: `SELECT ${FEED_TOMBSTONE_COLUMNS} FROM tombstones b
    WHERE b.tenant = $1 AND b.session_id = ANY ($2::text[]) ORDER BY b.session`,
});

export async function readFeedSlice(
  tx: Transaction,
  after: number,
  limit: number,
): Promise<FeedSlice> {
  const [heads, changes = []] = await tx.together([
    query(SQL.head, tx.tenant),
    // Planned for this limit: for any limit the server would rather read all entries.
    { sql: SQL.changes, values: [tx.tenant, after, limit], planned: "each time" },
  ]);
  const names = nameFeed(changes, after);
  const agents = names.memories.map(({ agent }) => agent);
  const notes = names.memories.map(({ name }) => name);
  const ids = [...new Set(names.deletions.map(({ sessionId }) => sessionId))];
  const unless = (empty: boolean, sql: string, ...values: SqlValue[]) =>
    empty ? undefined : query(sql, tx.tenant, ...values);
  const [sessions = [], memories = [], facts = [], tombstones = []] = await tx.together([
    unless(names.sessions.size === 0, SQL.sessions, [...names.sessions.keys()]),
    unless(notes.length === 0, SQL.memories, agents, notes),
    unless(names.facts.size === 0, SQL.facts, [...names.facts.keys()]),
    unless(ids.length === 0, SQL.tombstones, ids),
  ]);
  const contents = new Map(
    memories.map(toMemory).map(({ agent, name, content }) => [keyOf(agent, name), content]),
  );
  return toFeedSlice(names, {
    head: Number(heads?.[0]?.["feed_position"] ?? 0),
    payloads: await readPayloads(
      tx,
      names.entries.map((row) => textOrNull(row["content"])),
    ),
    sessions,
    memories: names.memories.map(({ agent, name }) => contents.get(keyOf(agent, name)) ?? null),
    facts,
    tombstones,
  });
}

function keyOf(agent: string, name: string): string {
  return JSON.stringify([agent, name]);
}
