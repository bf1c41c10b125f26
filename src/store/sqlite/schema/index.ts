import { type Migration, migrationsOf } from "../../migration.ts";
import { CONVERSATIONS, FEED, LIVE, NOTES } from "./conversations.ts";

/**
 * The manifest and lease of each tenant's index, and the models of each session's messages, for
 * filters and counts: `entries` has no index by model, and one would cost every append more.
 * Triggers maintain the table, and a restored copy fills it with its entries. Retention erases the
 * oldest entries first, so the search for another entry of a model begins after the erased one.
 *
 * The segments of the index are in a file beside this one: they are derived, large, and rewritten
 * in the background.
 */
const SEARCH: string = `
CREATE TABLE index_manifest (
  tenant INTEGER PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0,
  through INTEGER NOT NULL DEFAULT 0,
  body BLOB,
  holder TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE session_models (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  model TEXT NOT NULL,
  PRIMARY KEY (tenant, session, model)
) WITHOUT ROWID;
CREATE INDEX session_models_by_model ON session_models (tenant, model, session);
CREATE TRIGGER entries_have_models AFTER INSERT ON entries
WHEN NEW.model IS NOT NULL AND NEW.kind = 'message' AND NOT EXISTS (SELECT 1 FROM session_models m
  WHERE m.tenant = NEW.tenant AND m.session = NEW.session AND m.model = NEW.model)
BEGIN
  INSERT INTO session_models (tenant, session, model) VALUES (NEW.tenant, NEW.session, NEW.model);
END;
CREATE TRIGGER entries_lose_models AFTER UPDATE OF model ON entries
WHEN OLD.model IS NOT NULL AND NEW.model IS NULL
BEGIN
  DELETE FROM session_models
  WHERE tenant = OLD.tenant AND session = OLD.session AND model = OLD.model
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = OLD.tenant
      AND e.session = OLD.session AND e.sequence > OLD.sequence AND e.model = OLD.model)
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = OLD.tenant
      AND e.session = OLD.session AND e.sequence < OLD.sequence AND e.model = OLD.model);
END;
CREATE TRIGGER sessions_had_models AFTER DELETE ON sessions
BEGIN
  DELETE FROM session_models WHERE tenant = OLD.tenant AND session = OLD.session;
END;
`;

/**
 * Read positions of transcripts, their bytes, the sessions derived from them, and a view of
 * ingested sessions as rows.
 *
 * A part is a range of a file as one zstd frame with a checksum. Text of more than 4 KB is stored
 * separately and compressed: the view's `content` has its head. SQLite before 3.44 does not support
 * ORDER BY inside an aggregate and would refuse the whole schema: in the view a subquery orders the
 * rows, and its LIMIT prevents flattening.
 */
const ARCHIVE: string = `
CREATE TABLE ingested_files (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  read_offset INTEGER NOT NULL,
  read_lines INTEGER NOT NULL,
  tail_hash BLOB,
  state BLOB,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITHOUT ROWID;

CREATE TABLE originals (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  reader INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITHOUT ROWID;

CREATE TABLE original_parts (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, workstation, path, start)
);

CREATE TABLE original_sessions (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
) WITHOUT ROWID;
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);

CREATE VIEW indexed_sessions AS
SELECT s.origin_key AS composite_key, s.workstation AS workstation_id, s.project_id,
  substr(s.origin_key, length(s.workstation) + length(s.project_id) + 3) AS session_id,
  s.project_path, s.git_branch, coalesce(s.exchange_count, 0) AS exchange_count,
  coalesce(s.tool_counts, '{}') AS tool_counts,
  (SELECT group_concat(said.line, char(10)) FROM (SELECT
      CASE e.role WHEN 'user' THEN 'User: ' ELSE 'Assistant: ' END
        || coalesce(json_extract(b.value, '$.text.head'), json_extract(b.value, '$.text')) AS line
    FROM entries e, json_each(CASE json_type(CAST(e.content AS TEXT)) WHEN 'array'
      THEN CAST(e.content AS TEXT) ELSE json_extract(CAST(e.content AS TEXT), '$.blocks') END) b
    WHERE e.tenant = s.tenant AND e.session = s.session AND e.kind = 'message'
      AND e.role IN ('user', 'assistant') AND json_extract(b.value, '$.type') = 'text'
    ORDER BY e.sequence, b.key LIMIT -1) said) AS content,
  s.file_mtime / 1000 AS file_mtime,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.first_msg_at / 1000.0, 'unixepoch') AS first_msg_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.last_msg_at / 1000.0, 'unixepoch') AS last_msg_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', t.last_write_at / 1000.0, 'unixepoch') AS updated_at,
  n.name AS tenant
FROM sessions s
JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
JOIN tenants n ON n.tenant = s.tenant
WHERE s.origin_key IS NOT NULL AND s.workstation IS NOT NULL AND s.project_id IS NOT NULL;
`;

/**
 * Access tokens. `secret_hash` is the SHA-256 of a secret that is not stored. `act_as` is JSON: a
 * list of names, or "any".
 */
const ACCESS: string = `
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

/**
 * The current and past sessions of each key.
 *
 * `fields` is a JSON object as UTF-8. `version` grows with every change of a route; in
 * `route_sessions` it is the version at which the session became current.
 */
const ROUTES: string = `
CREATE TABLE routes (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  fields BLOB,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

CREATE TABLE route_sessions (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (tenant, key, version)
) WITHOUT ROWID;
CREATE INDEX route_sessions_by_session ON route_sessions (tenant, session_id, since);
`;

/** The tables of the first release, in the order in which they are created. */
const SCHEMA: string = [CONVERSATIONS, LIVE, FEED, NOTES, SEARCH, ARCHIVE, ACCESS, ROUTES].join("");

export const SQLITE_MIGRATIONS: readonly Migration[] = migrationsOf("sqlite", SCHEMA);
