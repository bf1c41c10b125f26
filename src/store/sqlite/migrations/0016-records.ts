import type { Migration } from "../../migration.ts";

/**
 * Values under a namespace and a key. `value` is JSON as UTF-8 if `is_json`, `text` a JSON string,
 * `hash` the SHA-256 of the value, `size` its bytes. An older version would keep their texts out of the
 * index and count the tenant's bytes without them, so it may not write.
 */
export const RECORDS: Migration = {
  version: 16,
  name: "records",
  minReader: 11,
  minWriter: 16,
  sql: `
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
};
