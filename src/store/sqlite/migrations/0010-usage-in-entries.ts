import type { Migration } from "../../migration.ts";

/**
 * What a model call used of its context is told by the row of the message that it gave, too: the
 * change that follows the message's own in the feed. `fed_usage` has its details, `fed_usage_hash`
 * its hash, and the row number after the message's stays free. Until now it was a row in `changes`,
 * and made the tenant's row be written with it.
 *
 * `first_entry` is the row number before the tenant's first, whatever the tenant's number is. Before,
 * 2^40 times that number was added to it, which is more than a number holds for the 8,193rd tenant.
 * Tenants whose entries are numbered so keep their numbers; others have 2^32 each, behind all entries.
 *
 * At most 64 positions are not written yet, and no more than these are looked at.
 */
export const USAGE_IN_ENTRIES: Migration = {
  version: 10,
  name: "usage-in-entries",
  minReader: 10,
  minWriter: 10,
  sql: `
DROP VIEW feed;
DROP VIEW tenants_now;
ALTER TABLE entries ADD COLUMN fed_usage BLOB;
ALTER TABLE entries ADD COLUMN fed_usage_hash BLOB;

CREATE TABLE numbering AS SELECT t.tenant, t.first_entry + (t.tenant - 1) * 1099511627776 AS row,
  EXISTS (SELECT 1 FROM entries e NOT INDEXED WHERE e.tenant = t.tenant
    AND e.entry > t.first_entry + (t.tenant - 1) * 1099511627776
    AND e.entry <= t.first_entry + t.tenant * 1099511627776) AS used
FROM tenants t;
UPDATE tenants SET first_entry = (SELECT n.row FROM numbering n WHERE n.tenant = tenants.tenant)
WHERE tenant IN (SELECT tenant FROM numbering WHERE used);
UPDATE tenants SET first_entry = (SELECT coalesce(max(entry), 0) FROM entries)
  + 4294967296 * (tenant - NOT EXISTS (SELECT 1 FROM numbering WHERE used))
WHERE tenant NOT IN (SELECT tenant FROM numbering WHERE used);
DROP TABLE numbering;

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
`,
};
