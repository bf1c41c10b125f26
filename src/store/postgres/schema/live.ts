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
