/**
 * Memories, facts and records. A record's `value` is JSON as UTF-8 if `is_json` is 1, `text` a JSON
 * string, `hash` the SHA-256 of the value, `size` its bytes.
 */
export const NOTES: string = `
CREATE TABLE memories (
  tenant bigint NOT NULL,
  agent text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  metadata bytea,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, agent, name)
);

CREATE TABLE facts (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  subject text COLLATE "C" NOT NULL,
  predicate text COLLATE "C" NOT NULL,
  object text COLLATE "C" NOT NULL,
  source_entry_id text COLLATE "C",
  confidence double precision NOT NULL,
  created_at bigint NOT NULL,
  superseded_by text COLLATE "C",
  PRIMARY KEY (tenant, id)
);
CREATE INDEX facts_by_session ON facts (tenant, session, id);
CREATE INDEX facts_by_source ON facts (tenant, source_entry_id) WHERE source_entry_id IS NOT NULL;

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
`;
