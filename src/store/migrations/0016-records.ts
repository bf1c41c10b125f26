import type { MigrationPair } from "../migration.ts";

/**
 * Values under a namespace and a key. `value` is JSON as UTF-8 if `is_json` is 1, `text` a JSON string,
 * `hash` the SHA-256 of the value, `size` its bytes. An older version would keep their texts out of the
 * index and count the tenant's bytes without them, so it may not write.
 */
export const RECORDS: MigrationPair = {
  version: 16,
  name: "records",
  minReader: 11,
  minWriter: 16,
  sqlite: `
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
`,
  postgres: `
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
ALTER TABLE records ENABLE ROW LEVEL SECURITY;
ALTER TABLE records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON records
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);
`,
};
