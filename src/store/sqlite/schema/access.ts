/**
 * Access tokens. `secret_hash` is the SHA-256 of a secret that is not stored. `act_as` is JSON: a
 * list of names, or "any".
 */
export const ACCESS: string = `
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
`;
