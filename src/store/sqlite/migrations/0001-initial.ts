import type { Migration } from "../../migration.ts";

/**
 * The first schema. Released migrations never change: a test pins their hashes.
 *
 * Every table is keyed by the tenant's number first. `sessions` holds what rarely changes,
 * `session_state` what each append moves. Content is bytes, so that it comes back as it went in.
 */
export const INITIAL: Migration = {
  version: 1,
  name: "initial",
  minReader: 1,
  minWriter: 1,
  sql: `
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
  max_content_bytes INTEGER
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
  hash BLOB NOT NULL
);
CREATE UNIQUE INDEX entries_by_id ON entries (tenant, id);
CREATE UNIQUE INDEX entries_by_sequence ON entries (tenant, session, sequence);
CREATE INDEX entries_by_place ON entries (tenant, session, chain, ordinal, depth);
CREATE INDEX entries_labels ON entries (tenant, session, sequence) WHERE kind = 'label';

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
`,
};
