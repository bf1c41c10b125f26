/** The change feed, the tombstones of deleted sessions, and the function that ends a write. */
export const FEED: string = `
CREATE TABLE changes (
  tenant bigint NOT NULL,
  position bigint NOT NULL,
  at bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  session_id text COLLATE "C",
  entry_id text COLLATE "C",
  entry_hash bytea,
  details bytea,
  hash bytea NOT NULL,
  PRIMARY KEY (tenant, position)
);

CREATE TABLE tombstones (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  origin_key text COLLATE "C",
  entry_count bigint NOT NULL,
  digest bytea NOT NULL,
  reason text COLLATE "C" NOT NULL,
  deleted_at bigint NOT NULL,
  PRIMARY KEY (tenant, session)
);
CREATE INDEX tombstones_by_id ON tombstones (tenant, session_id);
CREATE INDEX tombstones_by_origin ON tombstones (tenant, origin_key) WHERE origin_key IS NOT NULL;

-- Ends a write: checks the quota, moves the counters, and gives each change its position and hash.
-- All writers of a tenant meet at its row, so this is the last statement before COMMIT: positions
-- are in the order of commits and have no gaps. The hash is SHA-256(previous, position, body).
CREATE FUNCTION backscroll_write_feed(
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
  -- One statement for all: a batch of 500 takes a quarter less of the server's time than one by one.
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
`;
