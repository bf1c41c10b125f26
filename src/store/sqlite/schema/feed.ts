/**
 * The feed of changes, and the tombstones of deleted sessions.
 *
 * An appended message doubles as its feed row: its rowid is the tenant's `first_entry` plus its
 * position, and `fed_hash` is the change's hash. `fed_usage` and `fed_usage_hash` store the change
 * that follows it, the context usage of a model call; the next rowid stays free for it. `fed_at` is
 * null if it equals `created_at`. Other changes have a row in `changes`. A second row for each
 * message was a tenth of an archive and a fifth of an append.
 *
 * The tenant's row is written behind: `feed_position`, its hash and the counters may lag up to 64
 * positions. `tenants_now` has their current values, `feed` all changes. Each tenant has 2^32
 * rowids.
 */
export const FEED: string = `
CREATE TABLE changes (
  tenant INTEGER NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  session_id TEXT,
  entry_id TEXT,
  entry_hash BLOB,
  details BLOB,
  hash BLOB NOT NULL,
  PRIMARY KEY (tenant, position)
) WITHOUT ROWID;

CREATE TABLE tombstones (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  origin_key TEXT,
  entry_count INTEGER NOT NULL,
  digest BLOB NOT NULL,
  reason TEXT NOT NULL,
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, session)
) WITHOUT ROWID;
CREATE INDEX tombstones_by_id ON tombstones (tenant, session_id);
CREATE INDEX tombstones_by_origin ON tombstones (tenant, origin_key) WHERE origin_key IS NOT NULL;

CREATE VIEW tenants_now AS
SELECT t.tenant, t.name, t.created_at,
  coalesce(max(e.entry + (e.fed_usage_hash IS NOT NULL)) - t.first_entry, t.feed_position)
    AS feed_position,
  coalesce(e.fed_usage_hash, e.fed_hash, t.feed_hash) AS feed_hash,
  t.last_session, t.session_count, t.entry_count + count(e.entry) AS entry_count,
  t.message_count + count(e.entry) AS message_count,
  t.content_bytes + coalesce(sum(e.content_bytes), 0) AS content_bytes,
  t.max_sessions, t.max_entries, t.max_content_bytes, t.first_entry,
  t.feed_position AS written_position
FROM tenants t
LEFT JOIN entries e NOT INDEXED ON e.tenant = t.tenant
  AND e.entry > t.first_entry + t.feed_position AND e.entry <= t.first_entry + t.feed_position + 64
GROUP BY t.tenant;

CREATE VIEW feed AS
SELECT tenant, position, at, kind, session_id, entry_id, entry_hash, details, hash FROM changes
UNION ALL
SELECT e.tenant, e.entry - t.first_entry, coalesce(e.fed_at, e.created_at), 'entry_appended', s.id,
  e.id, e.hash, NULL, e.fed_hash
FROM entries e
JOIN tenants t ON t.tenant = e.tenant
JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
WHERE e.fed_hash IS NOT NULL
UNION ALL
SELECT e.tenant, e.entry - t.first_entry + 1, coalesce(e.fed_at, e.created_at), 'context_usage',
  s.id, e.id, NULL, e.fed_usage, e.fed_usage_hash
FROM entries e
JOIN tenants t ON t.tenant = e.tenant
JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
WHERE e.fed_usage_hash IS NOT NULL;
`;
