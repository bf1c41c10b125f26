import type { Migration } from "../../migration.ts";

/**
 * An appended message is its own row of the feed: its row number is that of the tenant's `first_entry`
 * and its position, and `fed_hash` is the change's hash. Until now a second row, in `changes`, said
 * the same again, which was a tenth of an archive and a fifth of an append. Those that are there stay.
 *
 * The tenant's row is not written with every message, either: `feed_position`, its hash and the
 * counters may be those of some messages ago. `tenants_now` has them as they are, `feed` all changes.
 *
 * A row number is a tenant's own: each has 2^40 of them, behind those that were given out before.
 * `fed_at` is null where it would be `created_at`. An older version would find gaps in the feed.
 */
export const FEED_IN_ENTRIES: Migration = {
  version: 9,
  name: "feed-in-entries",
  minReader: 9,
  minWriter: 9,
  sql: `
ALTER TABLE entries ADD COLUMN fed_at INTEGER;
ALTER TABLE entries ADD COLUMN fed_hash BLOB;
ALTER TABLE tenants ADD COLUMN first_entry INTEGER NOT NULL DEFAULT 0;
UPDATE tenants SET first_entry = (SELECT coalesce(max(entry), 0) FROM entries);

CREATE VIEW tenants_now AS
SELECT t.tenant, t.name, t.created_at,
  coalesce(max(e.entry) - t.first_entry - (t.tenant - 1) * 1099511627776, t.feed_position)
    AS feed_position,
  coalesce(e.fed_hash, t.feed_hash) AS feed_hash,
  t.last_session, t.session_count, t.entry_count + count(e.entry) AS entry_count,
  t.message_count + count(e.entry) AS message_count,
  t.content_bytes + coalesce(sum(e.content_bytes), 0) AS content_bytes,
  t.max_sessions, t.max_entries, t.max_content_bytes, t.first_entry,
  t.feed_position AS written_position
FROM tenants t
LEFT JOIN entries e NOT INDEXED ON e.tenant = t.tenant
  AND e.entry > t.first_entry + (t.tenant - 1) * 1099511627776 + t.feed_position
  AND e.entry <= t.first_entry + t.tenant * 1099511627776
GROUP BY t.tenant;

CREATE VIEW feed AS
SELECT tenant, position, at, kind, session_id, entry_id, entry_hash, details, hash FROM changes
UNION ALL
SELECT e.tenant, e.entry - t.first_entry - (t.tenant - 1) * 1099511627776,
  coalesce(e.fed_at, e.created_at), 'entry_appended', s.id, e.id, e.hash, NULL, e.fed_hash
FROM entries e
JOIN tenants t ON t.tenant = e.tenant
JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session
WHERE e.fed_hash IS NOT NULL;
`,
};
