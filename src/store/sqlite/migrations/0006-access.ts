import type { Migration } from "../../migration.ts";

/**
 * Tokens and leases. Older versions ignore these and may write; their backups have no tokens.
 *
 * `secret_hash` is the SHA-256 of a secret that is kept nowhere. `act_as` is JSON: a list of names, or
 * "any". A lease is no tenant's.
 */
export const ACCESS: Migration = {
  version: 6,
  name: "access",
  minReader: 1,
  minWriter: 4,
  sql: `
CREATE TABLE access_tokens (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  scope TEXT NOT NULL,
  actor TEXT,
  act_as TEXT,
  operator INTEGER NOT NULL DEFAULT 0,
  label TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX access_tokens_by_id ON access_tokens (id);

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
`,
};
