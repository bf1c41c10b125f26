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
