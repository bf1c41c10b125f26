/**
 * Tenants, sessions and their entries.
 *
 * The same tables and columns as on SQLite, so that rows can move between the two. Text compares by
 * bytes (COLLATE "C"), whatever the database's locale is, so that both sort alike.
 *
 * `sessions` holds the fields that rarely change, `session_state` those that each append moves.
 * Content is bytes, so that it round-trips unchanged. A null `short_id` means that the id itself is
 * the short id; `own_id` is the agent's own id.
 */
export const CONVERSATIONS: string = `
CREATE TABLE tenants (
  tenant bigint CONSTRAINT tenants_pkey PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT tenants_by_name UNIQUE,
  created_at bigint NOT NULL,
  feed_position bigint NOT NULL DEFAULT 0,
  feed_hash bytea NOT NULL,
  last_session bigint NOT NULL DEFAULT 0,
  session_count bigint NOT NULL DEFAULT 0,
  entry_count bigint NOT NULL DEFAULT 0,
  message_count bigint NOT NULL DEFAULT 0,
  content_bytes bigint NOT NULL DEFAULT 0,
  max_sessions bigint,
  max_entries bigint,
  max_content_bytes bigint
) WITH (fillfactor = 70);

CREATE TABLE sessions (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  started_at bigint,
  title text COLLATE "C",
  title_folded text COLLATE "C",
  summary text COLLATE "C",
  metadata bytea,
  ttl_seconds bigint,
  retention text COLLATE "C",
  parent_session_id text COLLATE "C",
  fork_entry_id text COLLATE "C",
  root_hash bytea,
  source text COLLATE "C",
  workstation text COLLATE "C",
  project_id text COLLATE "C",
  project_path text COLLATE "C",
  git_branch text COLLATE "C",
  file text COLLATE "C",
  origin_key text COLLATE "C",
  own_id text COLLATE "C",
  short_id text COLLATE "C",
  repo text COLLATE "C",
  retention_applied bigint,
  exchange_count bigint,
  tool_counts text COLLATE "C",
  file_mtime bigint,
  first_msg_at bigint,
  last_msg_at bigint,
  cost_usd double precision,
  PRIMARY KEY (tenant, session)
);
CREATE UNIQUE INDEX sessions_by_id ON sessions (tenant, id);
CREATE UNIQUE INDEX sessions_by_origin ON sessions (tenant, origin_key) WHERE origin_key IS NOT NULL;
CREATE INDEX sessions_by_agent ON sessions (tenant, agent);
CREATE INDEX sessions_by_owner ON sessions (tenant, owner);
CREATE INDEX sessions_by_project ON sessions (tenant, project_id) WHERE project_id IS NOT NULL;
CREATE INDEX sessions_by_workstation ON sessions (tenant, workstation) WHERE workstation IS NOT NULL;
CREATE INDEX sessions_by_source ON sessions (tenant, source) WHERE source IS NOT NULL;
CREATE INDEX sessions_by_parent ON sessions (tenant, parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_with_ttl ON sessions (tenant, session) WHERE ttl_seconds IS NOT NULL;
CREATE INDEX sessions_by_repo ON sessions (tenant, repo) WHERE repo IS NOT NULL;
CREATE UNIQUE INDEX sessions_by_short_id ON sessions (tenant, short_id) WHERE short_id IS NOT NULL;
CREATE INDEX sessions_by_own_id ON sessions (tenant, own_id) WHERE own_id IS NOT NULL;
CREATE INDEX sessions_forgetting ON sessions (tenant, id) WHERE retention <> 'full';

CREATE TABLE session_state (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  leaf_id text COLLATE "C",
  leaf_sequence bigint,
  leaf_chain bigint,
  leaf_depth bigint,
  leaf_ordinal bigint,
  leaf_hash bytea,
  leaf_at_tip smallint NOT NULL DEFAULT 0,
  last_sequence bigint NOT NULL DEFAULT 0,
  last_chain bigint NOT NULL DEFAULT 0,
  message_count bigint NOT NULL DEFAULT 0,
  content_bytes bigint NOT NULL DEFAULT 0,
  updated_at bigint NOT NULL,
  last_interaction_at bigint NOT NULL,
  last_write_at bigint NOT NULL,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cache_creation_tokens bigint NOT NULL DEFAULT 0,
  cache_read_tokens bigint NOT NULL DEFAULT 0,
  summarized_through text COLLATE "C",
  PRIMARY KEY (tenant, session)
) WITH (fillfactor = 70);
CREATE INDEX session_state_by_interaction ON session_state (tenant, last_interaction_at, session);

CREATE TABLE participants (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (tenant, session, actor)
);
CREATE INDEX participants_by_actor ON participants (tenant, actor, session);

CREATE TABLE chains (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  chain bigint NOT NULL,
  parent_chain bigint NOT NULL,
  fork_depth bigint NOT NULL,
  fork_ordinal bigint NOT NULL,
  PRIMARY KEY (tenant, session, chain)
);

CREATE TABLE entries (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  sequence bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  chain bigint NOT NULL,
  depth bigint NOT NULL,
  ordinal bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  role text COLLATE "C",
  actor text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  model text COLLATE "C",
  adapter text COLLATE "C",
  input_tokens bigint,
  output_tokens bigint,
  cache_creation_tokens bigint,
  cache_read_tokens bigint,
  metadata bytea,
  created_at bigint NOT NULL,
  superseded_by text COLLATE "C",
  copied_from text COLLATE "C",
  pinned smallint NOT NULL DEFAULT 0,
  content bytea,
  content_bytes bigint NOT NULL,
  nonce bytea,
  content_hash bytea,
  hash bytea NOT NULL,
  PRIMARY KEY (tenant, session, sequence)
);
CREATE UNIQUE INDEX entries_by_id ON entries (tenant, id);
CREATE INDEX entries_by_place ON entries (tenant, session, chain, ordinal, depth);
CREATE INDEX entries_labels ON entries (tenant, session, sequence) WHERE kind = 'label';
CREATE INDEX entries_pinned ON entries (tenant, session, sequence) WHERE pinned = 1;
CREATE INDEX entries_superseded ON entries (tenant, session, sequence)
  WHERE superseded_by IS NOT NULL;
CREATE INDEX entries_summaries ON entries (tenant, session, sequence)
  WHERE kind IN ('compaction', 'summary');

CREATE TABLE blobs (
  tenant bigint NOT NULL,
  hash bytea NOT NULL,
  codec text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, hash)
);
-- The bytes are compressed already.
ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE entry_blobs (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (tenant, session, sequence, hash),
  CONSTRAINT entry_blobs_hold FOREIGN KEY (tenant, hash) REFERENCES blobs (tenant, hash) ON DELETE RESTRICT
);
CREATE INDEX entry_blobs_by_hash ON entry_blobs (tenant, hash);
`;

/** Pending messages, idempotency keys, and leases, which belong to no tenant. */
export const LIVE: string = `
CREATE TABLE streams (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  role text COLLATE "C" NOT NULL,
  actor text COLLATE "C",
  metadata bytea,
  model text COLLATE "C",
  adapter text COLLATE "C",
  holder text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL DEFAULT 1,
  opened_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  chunk_count bigint NOT NULL DEFAULT 0,
  chunk_bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id)
) WITH (fillfactor = 70);
CREATE INDEX streams_by_session ON streams (tenant, session);
CREATE INDEX streams_by_expiry ON streams (tenant, expires_at);

CREATE TABLE stream_chunks (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, id, number)
);

CREATE TABLE idempotency (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_hash bytea NOT NULL,
  result text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, session, key)
);
CREATE INDEX idempotency_by_age ON idempotency (tenant, created_at);

CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70);
`;

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

/**
 * Memories, facts and records. A record's `value` is JSON as UTF-8 if `is_json` is 1, `text` a JSON
 * string, `hash` the SHA-256 of the value, `size` its bytes.
 */
export const NOTES: string = `
CREATE TABLE memories (
  tenant bigint NOT NULL,
  agent text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  metadata bytea,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, agent, name)
);

CREATE TABLE facts (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  subject text COLLATE "C" NOT NULL,
  predicate text COLLATE "C" NOT NULL,
  object text COLLATE "C" NOT NULL,
  source_entry_id text COLLATE "C",
  confidence double precision NOT NULL,
  created_at bigint NOT NULL,
  superseded_by text COLLATE "C",
  PRIMARY KEY (tenant, id)
);
CREATE INDEX facts_by_session ON facts (tenant, session, id);
CREATE INDEX facts_by_source ON facts (tenant, source_entry_id) WHERE source_entry_id IS NOT NULL;

CREATE TABLE records (
  tenant bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  is_json bigint NOT NULL,
  size bigint NOT NULL,
  hash bytea NOT NULL,
  expires_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  text bytea,
  value bytea NOT NULL,
  PRIMARY KEY (tenant, namespace, key)
);
CREATE INDEX records_that_expire ON records (tenant, expires_at) WHERE expires_at IS NOT NULL;
`;
