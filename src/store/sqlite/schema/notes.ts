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
