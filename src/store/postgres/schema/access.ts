/**
 * Access tokens. `secret_hash` is the SHA-256 of a secret that is not stored. `act_as` is JSON: a
 * list of names, or "any".
 */
export const ACCESS: string = `
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
`;
