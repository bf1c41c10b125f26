import type { MigrationPair } from "../migration.ts";

/**
 * On PostgreSQL one statement inserts all changes of a write, where each had one of its own: a batch of
 * 500 takes a quarter less of the server's time. The rows are the same, so older versions may read and write.
 */
export const FEED_IN_BULK: MigrationPair = {
  version: 18,
  name: "feed-in-bulk",
  minReader: 11,
  minWriter: 16,
  sqlite: "SELECT 1",
  postgres: `
CREATE OR REPLACE FUNCTION backscroll_write_feed(
  of_tenant bigint,
  added_sessions bigint, added_entries bigint, added_messages bigint, added_content_bytes bigint,
  ats bigint[], kinds text[], session_ids text[], entry_ids text[], entry_hashes bytea[],
  all_details bytea[], bodies bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $feed$
DECLARE
  own tenants%ROWTYPE;
  exceeded text;
  hashes bytea[] := '{}';
BEGIN
  SELECT * INTO STRICT own FROM tenants WHERE tenant = of_tenant FOR UPDATE;
  SELECT json_build_object('field', field, 'limit', most, 'used', used, 'added', added)
    INTO exceeded
    FROM (VALUES
      (1, 'sessions', own.max_sessions, own.session_count, added_sessions),
      (2, 'entries', own.max_entries, own.entry_count, added_entries),
      (3, 'content bytes', own.max_content_bytes, own.content_bytes, added_content_bytes)
    ) quotas (rank, field, most, used, added)
    WHERE added > 0 AND used + added > most ORDER BY rank LIMIT 1;
  IF exceeded IS NOT NULL THEN
    RAISE EXCEPTION 'a quota of the tenant is used up' USING ERRCODE = 'QUOTA', DETAIL = exceeded;
  END IF;
  FOR i IN 1 .. cardinality(kinds) LOOP
    own.feed_hash := sha256(own.feed_hash || int8send(own.feed_position + i) || bodies[i]);
    hashes[i] := own.feed_hash;
  END LOOP;
  INSERT INTO changes (tenant, position, at, kind, session_id, entry_id, entry_hash, details, hash)
    SELECT of_tenant, own.feed_position + rank, at, kind, session_id, entry_id, entry_hash, details,
      hash
    FROM unnest(ats, kinds, session_ids, entry_ids, entry_hashes, all_details, hashes)
      WITH ORDINALITY AS added (at, kind, session_id, entry_id, entry_hash, details, hash, rank);
  own.feed_position := own.feed_position + cardinality(kinds);
  UPDATE tenants SET feed_position = own.feed_position, feed_hash = own.feed_hash,
      session_count = session_count + added_sessions, entry_count = entry_count + added_entries,
      message_count = message_count + added_messages,
      content_bytes = content_bytes + added_content_bytes
    WHERE tenant = of_tenant;
  RETURN own.feed_position;
END
$feed$;
`,
};
