import type { Migration } from "../../migration.ts";

/**
 * Tokens and leases. Older versions ignore these and may write; their backups have no tokens.
 *
 * `secret_hash` is the SHA-256 of a secret that is kept nowhere. `act_as` is JSON: a list of names, or
 * "any". A lease is no tenant's.
 *
 * A token is looked for before its tenant is known, so row-level security also shows the one row
 * whose id the transaction has named: without an id no row is visible.
 */
export const ACCESS: Migration = {
  version: 6,
  name: "access",
  minReader: 1,
  minWriter: 4,
  sql: `
CREATE TABLE access_tokens (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  secret_hash bytea NOT NULL,
  scope text COLLATE "C" NOT NULL,
  actor text COLLATE "C",
  act_as text COLLATE "C",
  operator bigint NOT NULL DEFAULT 0,
  label text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX access_tokens_by_id ON access_tokens (id);
ALTER TABLE access_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON access_tokens
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);
CREATE POLICY named_token ON access_tokens FOR SELECT
  USING (id = current_setting('backscroll.token', true));

CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70);
`,
};
