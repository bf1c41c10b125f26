/**
 * Tenants, sessions and their entries.
 *
 * Every table is keyed by the tenant's number first. `sessions` holds the fields that rarely
 * change, `session_state` those that each append moves. Content is bytes, so that it round-trips
 * unchanged. A null `short_id` means that the id itself is the short id; `own_id` is the agent's
 * own id.
 *
 * `packs` is block compression: tool calls, results, thoughts and metadata of neighbouring imported
 * entries are compressed together. An entry with a `pack` has its metadata in that pack of its
 * session, and its content too, except for message text, which stays in the entry for the view
 * `indexed_sessions`. A pack's number is the sequence of its first entry. `bytes` is zstd of UTF-8:
 * the content and the metadata of each sequence from that one on, separated by NUL, and empty where
 * the pack has none. Content that begins with a space has only the text blocks: the pack has the
 * rest, with U+0001 in their places.
 *
 * An empty `parent_id` means the `id` of the previous row: imports mostly continue it, and a row
 * number never changes.
 */
export const CONVERSATIONS: string = `
CREATE TABLE tenants (
  tenant INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  feed_position INTEGER NOT NULL DEFAULT 0,
  feed_hash BLOB NOT NULL,
  last_session INTEGER NOT NULL DEFAULT 0,
  session_count INTEGER NOT NULL DEFAULT 0,
  entry_count INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  content_bytes INTEGER NOT NULL DEFAULT 0,
  max_sessions INTEGER,
  max_entries INTEGER,
  max_content_bytes INTEGER,
  first_entry INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE sessions (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  agent TEXT NOT NULL,
  created_by TEXT NOT NULL,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  title TEXT,
  title_folded TEXT,
  summary TEXT,
  metadata BLOB,
  ttl_seconds INTEGER,
  retention TEXT,
  parent_session_id TEXT,
  fork_entry_id TEXT,
  root_hash BLOB,
  source TEXT,
  workstation TEXT,
  project_id TEXT,
  project_path TEXT,
  git_branch TEXT,
  file TEXT,
  origin_key TEXT,
  own_id TEXT,
  short_id TEXT,
  repo TEXT,
  retention_applied INTEGER,
  exchange_count INTEGER,
  tool_counts TEXT,
  file_mtime INTEGER,
  first_msg_at INTEGER,
  last_msg_at INTEGER,
  cost_usd REAL,
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
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  leaf_id TEXT,
  leaf_sequence INTEGER,
  leaf_chain INTEGER,
  leaf_depth INTEGER,
  leaf_ordinal INTEGER,
  leaf_hash BLOB,
  leaf_at_tip INTEGER NOT NULL DEFAULT 0,
  last_sequence INTEGER NOT NULL DEFAULT 0,
  last_chain INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  content_bytes INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  last_interaction_at INTEGER NOT NULL,
  last_write_at INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  summarized_through TEXT,
  PRIMARY KEY (tenant, session)
) WITHOUT ROWID;
CREATE INDEX session_state_by_interaction ON session_state (tenant, last_interaction_at, session);

CREATE TABLE participants (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  actor TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (tenant, session, actor)
) WITHOUT ROWID;
CREATE INDEX participants_by_actor ON participants (tenant, actor, session);

CREATE TABLE chains (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  chain INTEGER NOT NULL,
  parent_chain INTEGER NOT NULL,
  fork_depth INTEGER NOT NULL,
  fork_ordinal INTEGER NOT NULL,
  PRIMARY KEY (tenant, session, chain)
) WITHOUT ROWID;

CREATE TABLE entries (
  entry INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  id TEXT NOT NULL,
  parent_id TEXT,
  chain INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  role TEXT,
  actor TEXT,
  status TEXT NOT NULL,
  model TEXT,
  adapter TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_creation_tokens INTEGER,
  cache_read_tokens INTEGER,
  metadata BLOB,
  created_at INTEGER NOT NULL,
  superseded_by TEXT,
  copied_from TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  content BLOB,
  content_bytes INTEGER NOT NULL,
  nonce BLOB,
  content_hash BLOB,
  hash BLOB NOT NULL,
  fed_at INTEGER,
  fed_hash BLOB,
  fed_usage BLOB,
  fed_usage_hash BLOB,
  pack INTEGER
);
CREATE UNIQUE INDEX entries_by_id ON entries (tenant, id);
CREATE UNIQUE INDEX entries_by_sequence ON entries (tenant, session, sequence);
CREATE INDEX entries_by_place ON entries (tenant, session, chain, ordinal, depth);
CREATE INDEX entries_labels ON entries (tenant, session, sequence) WHERE kind = 'label';
CREATE INDEX entries_pinned ON entries (tenant, session, sequence) WHERE pinned = 1;
CREATE INDEX entries_superseded ON entries (tenant, session, sequence)
  WHERE superseded_by IS NOT NULL;
CREATE INDEX entries_summaries ON entries (tenant, session, sequence)
  WHERE kind IN ('compaction', 'summary');

CREATE TABLE blobs (
  tenant INTEGER NOT NULL,
  hash BLOB NOT NULL,
  codec TEXT NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, hash)
);

CREATE TABLE entry_blobs (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (tenant, session, sequence, hash),
  FOREIGN KEY (tenant, hash) REFERENCES blobs (tenant, hash) ON DELETE RESTRICT
) WITHOUT ROWID;
CREATE INDEX entry_blobs_by_hash ON entry_blobs (tenant, hash);

CREATE TABLE packs (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, session, pack)
);
`;

/** Pending messages, idempotency keys, and leases, which belong to no tenant. */
export const LIVE: string = `
CREATE TABLE streams (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  session INTEGER NOT NULL,
  role TEXT NOT NULL,
  actor TEXT,
  metadata BLOB,
  model TEXT,
  adapter TEXT,
  holder TEXT NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 1,
  opened_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL DEFAULT 0,
  chunk_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX streams_by_session ON streams (tenant, session);
CREATE INDEX streams_by_expiry ON streams (tenant, expires_at);

CREATE TABLE stream_chunks (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, id, number)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  key TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  result TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, session, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (tenant, created_at);

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
`;

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

/**
 * Memories, facts and records. A record's `value` is JSON as UTF-8 if `is_json` is 1, `text` a JSON
 * string, `hash` the SHA-256 of the value, `size` its bytes.
 */
export const NOTES: string = `
CREATE TABLE memories (
  tenant INTEGER NOT NULL,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  content BLOB NOT NULL,
  metadata BLOB,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, agent, name)
) WITHOUT ROWID;

CREATE TABLE facts (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  session INTEGER NOT NULL,
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object TEXT NOT NULL,
  source_entry_id TEXT,
  confidence REAL NOT NULL,
  created_at INTEGER NOT NULL,
  superseded_by TEXT,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX facts_by_session ON facts (tenant, session, id);
CREATE INDEX facts_by_source ON facts (tenant, source_entry_id) WHERE source_entry_id IS NOT NULL;

CREATE TABLE records (
  tenant INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  version TEXT NOT NULL,
  is_json INTEGER NOT NULL,
  size INTEGER NOT NULL,
  hash BLOB NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  text BLOB,
  value BLOB NOT NULL,
  PRIMARY KEY (tenant, namespace, key)
);
CREATE INDEX records_that_expire ON records (tenant, expires_at) WHERE expires_at IS NOT NULL;
`;
