/** Reads the feed from a position on, with the current state of its entries and notes. */

import type { Block } from "../../../model/block.ts";
import { namespaceOf } from "../../../model/record.ts";
import type { FeedSlice } from "../../../search/port.ts";
import { textOrNull } from "../../damage/stored-json.ts";
import {
  emptyFeedSlice,
  FEED_CHANGE_COLUMNS,
  FEED_ENTRY_NAMES,
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
import { asText } from "../operations/entry-columns.ts";
import { isReadable, unfold } from "../packs/read-pack.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("feed_slice", {
  head: `SELECT feed_position, first_entry FROM tenants_now WHERE tenant = ?`,
  fedEntries: `SELECT ${feedEntryColumns("e.entry - ?", asText)}, e.pack FROM entries e NOT INDEXED
    WHERE e.tenant = ? AND e.entry > ? AND e.entry <= ? AND e.fed_hash IS NOT NULL
    ORDER BY e.entry`,
  entries: `SELECT ${feedEntryColumns("c.position", asText)}, e.pack FROM changes c
    CROSS JOIN entries e ON e.tenant = c.tenant AND e.id = c.entry_id
    WHERE c.tenant = ? AND c.position > ? AND c.position <= ? AND c.kind = 'entry_appended'
    ORDER BY c.position`,
  changes: `SELECT ${FEED_CHANGE_COLUMNS} FROM changes c
    LEFT JOIN sessions s ON s.tenant = c.tenant AND s.id = c.session_id
    WHERE c.tenant = ? AND c.position > ? AND c.position <= ? AND c.kind NOT IN ${FEED_SILENT}
    ORDER BY c.position`,
  session: `SELECT ${FEED_SESSION_COLUMNS} FROM sessions s WHERE s.tenant = ? AND s.session = ?`,
  memory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND agent = ? AND name = ?`,
  record: `SELECT ${PART_COLUMNS.text} FROM records r
    WHERE r.tenant = ? AND r.namespace = ? AND r.key = ?`,
  fact: `SELECT ${FEED_FACT_COLUMNS} FROM facts f WHERE f.tenant = ? AND f.id = ?`,
  tombstones: `SELECT ${FEED_TOMBSTONE_COLUMNS} FROM tombstones b
    WHERE b.tenant = ? AND b.session_id = ? ORDER BY b.session`,
  erased: `SELECT ${FEED_ERASED_COLUMNS} FROM entries e
    WHERE e.tenant = ? AND e.id = ? AND e.kind = 'message'`,
});

const STORED_NAMES = [...FEED_ENTRY_NAMES, "pack"];

export function readFeedSlice(
  db: SqliteConnection,
  tenant: number,
  after: number,
  limit: number,
  types?: readonly Block["type"][],
): FeedSlice {
  const row = db.get(SQL.head, tenant);
  const head = Number(row?.["feed_position"] ?? 0);
  // Positions have no gaps.
  const last = Math.max(after, Math.min(head, after + limit));
  if (last === after) return emptyFeedSlice(after, head);
  const before = Number(row?.["first_entry"] ?? 0);
  const names = nameFeed(
    byPosition(
      db.records(SQL.fedEntries, STORED_NAMES, before, tenant, before + after, before + last),
      db.records(SQL.entries, STORED_NAMES, tenant, after, last),
    ).map((row) => unfoldMessage(db, tenant, row)),
    db.all(SQL.changes, tenant, after, last),
    last,
  );
  const contents = names.entries.map((row) => textOrNull(row["content"]));
  const ids = new Set(names.deletions.map(({ sessionId }) => sessionId));
  return toFeedSlice(names, {
    head,
    payloads: readSoundPayloads(db, tenant, contents, types),
    sessions: [...names.sessions.keys()].flatMap((n) => db.all(SQL.session, tenant, n)),
    memories: names.memories.map(({ agent, name }) => textOfNote(db, tenant, agent, name)),
    facts: [...names.facts.keys()].flatMap((id) => db.all(SQL.fact, tenant, id)),
    tombstones: [...ids].flatMap((id) => db.all(SQL.tombstones, tenant, id)),
    erased: names.erasures.flatMap((erasure) =>
      erasure.ids.flatMap((id) => db.all(SQL.erased, tenant, id)),
    ),
  });
}

function textOfNote(
  db: SqliteConnection,
  tenant: number,
  agent: string,
  name: string,
): string | null {
  const namespace = namespaceOf(agent);
  if (namespace === undefined) {
    const row = db.get(SQL.memory, tenant, agent, name);
    return row === undefined ? null : toMemory(row).content;
  }
  const row = db.get(SQL.record, tenant, namespace, name);
  return row === undefined ? null : toRecord(row).text;
}

/** Completes the row of an indexed message from its pack. Other rows stay as they are. */
function unfoldMessage(db: SqliteConnection, tenant: number, row: SqlRow): SqlRow {
  const isIndexed = row["kind"] === "message" && row["status"] === "committed";
  const session = Number(row["session"]);
  if (!isIndexed || !isReadable(db, tenant, session, row["pack"])) return row;
  return unfold(db, tenant, session, row);
}

/** Usually one of the two is empty. */
function byPosition(fed: SqlRow[], others: SqlRow[]): SqlRow[] {
  if (others.length === 0) return fed;
  if (fed.length === 0) return others;
  return [...fed, ...others].sort((a, b) => Number(a["position"]) - Number(b["position"]));
}
