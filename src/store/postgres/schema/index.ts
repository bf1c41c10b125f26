import { type Migration, migrationsOf } from "../../migration.ts";
import { CONVERSATIONS, FEED, LIVE, NOTES } from "./conversations.ts";

/**
 * The manifest, lease and segments of each tenant's index, and the models of each session's
 * messages, for filters and counts: `entries` has no index by model, and one would cost every
 * append more. Triggers maintain the table, and a restored copy fills it with its entries.
 * Retention erases the oldest entries first, so the search for another entry of a model begins
 * after the erased one.
 */
const SEARCH: string = `
CREATE TABLE index_manifest (
  tenant bigint PRIMARY KEY,
  version bigint NOT NULL DEFAULT 0,
  through bigint NOT NULL DEFAULT 0,
  body bytea,
  holder text COLLATE "C",
  epoch bigint NOT NULL DEFAULT 0,
  expires_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE TABLE index_segments (
  tenant bigint NOT NULL,
  segment bigint NOT NULL,
  created_at bigint NOT NULL,
  dropped_at bigint,
  PRIMARY KEY (tenant, segment)
);

-- Whole segments come and go: vacuum soon, not after a fifth of the table.
CREATE TABLE index_blobs (
  tenant bigint NOT NULL,
  segment bigint NOT NULL,
  blob bigint NOT NULL,
  crc bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, segment, blob)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
  toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 2000
);
-- The bytes are packed already.
ALTER TABLE index_blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE session_models (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session, model)
);
CREATE INDEX session_models_by_model ON session_models (tenant, model, session);

CREATE FUNCTION backscroll_add_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_models (tenant, session, model)
  SELECT DISTINCT a.tenant, a.session, a.model FROM added a
  WHERE a.model IS NOT NULL AND a.kind = 'message'
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER entries_have_models AFTER INSERT ON entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION backscroll_add_models();
CREATE FUNCTION backscroll_lose_model() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session_models
  WHERE tenant = OLD.tenant AND session = OLD.session AND model = OLD.model
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = OLD.tenant
      AND e.session = OLD.session AND e.sequence > OLD.sequence AND e.model = OLD.model)
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = OLD.tenant
      AND e.session = OLD.session AND e.sequence < OLD.sequence AND e.model = OLD.model);
  RETURN NULL;
END $$;
CREATE TRIGGER entries_lose_models AFTER UPDATE OF model ON entries FOR EACH ROW
  WHEN (OLD.model IS NOT NULL AND NEW.model IS NULL) EXECUTE FUNCTION backscroll_lose_model();
CREATE FUNCTION backscroll_drop_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session_models m USING gone g WHERE m.tenant = g.tenant AND m.session = g.session;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_had_models AFTER DELETE ON sessions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION backscroll_drop_models();
`;

/**
 * Read positions of transcripts, their bytes, the sessions derived from them, and a view of
 * ingested sessions as rows.
 *
 * A part is a range of a file as one zstd frame with a checksum. Text of more than 4 KB is stored
 * separately and compressed: the view's `content` has its head. The view is subject to row-level
 * security.
 */
const ARCHIVE: string = `
CREATE TABLE ingested_files (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  mtime bigint NOT NULL,
  read_offset bigint NOT NULL,
  read_lines bigint NOT NULL,
  tail_hash bytea,
  state bytea,
  seen_at bigint NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITH (fillfactor = 70);

CREATE TABLE originals (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  reader bigint NOT NULL,
  size bigint NOT NULL,
  mtime bigint NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
);

CREATE TABLE original_parts (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  size bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, workstation, path, start)
);
ALTER TABLE original_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE original_sessions (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
);
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);

-- The text blocks of a message. What PostgreSQL cannot hold as text (NUL, half a surrogate pair)
-- leaves a message out of the view, and out of nothing else.
CREATE FUNCTION backscroll_message_text(content bytea, label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $text$
DECLARE
  body jsonb;
BEGIN
  body := convert_from(content, 'UTF8')::jsonb;
  RETURN (SELECT string_agg(label || coalesce(b.block #>> '{text,head}', b.block ->> 'text'),
      E'\\n' ORDER BY b.place)
    FROM jsonb_array_elements(CASE jsonb_typeof(body) WHEN 'array' THEN body
      ELSE coalesce(body -> 'blocks', '[]') END) WITH ORDINALITY AS b (block, place)
    WHERE b.block ->> 'type' = 'text');
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END
$text$;

CREATE VIEW indexed_sessions WITH (security_invoker = true) AS
SELECT s.origin_key AS composite_key, s.workstation AS workstation_id, s.project_id,
  substr(s.origin_key, length(s.workstation) + length(s.project_id) + 3) AS session_id,
  s.project_path, s.git_branch, coalesce(s.exchange_count, 0) AS exchange_count,
  coalesce(s.tool_counts, '{}') AS tool_counts,
  (SELECT string_agg(backscroll_message_text(e.content,
        CASE e.role WHEN 'user' THEN 'User: ' ELSE 'Assistant: ' END), E'\\n' ORDER BY e.sequence)
    FROM entries e
    WHERE e.tenant = s.tenant AND e.session = s.session AND e.kind = 'message'
      AND e.role IN ('user', 'assistant') AND e.content IS NOT NULL) AS content,
  s.file_mtime / 1000 AS file_mtime,
  to_timestamp(s.first_msg_at / 1000.0) AS first_msg_at,
  to_timestamp(s.last_msg_at / 1000.0) AS last_msg_at,
  to_timestamp(s.created_at / 1000.0) AS created_at,
  to_timestamp(t.last_write_at / 1000.0) AS updated_at,
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

/**
 * The current and past sessions of each key.
 *
 * `fields` is a JSON object as UTF-8. `version` grows with every change of a route; in
 * `route_sessions` it is the version at which the session became current.
 */
const ROUTES: string = `
CREATE TABLE routes (
  tenant bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  fields bytea,
  PRIMARY KEY (tenant, key)
) WITH (fillfactor = 70);

CREATE TABLE route_sessions (
  tenant bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  reason text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, key, version)
);
CREATE INDEX route_sessions_by_session ON route_sessions (tenant, session_id, since);
`;

/**
 * Row-level security separates tenants even if a statement omits the tenant: a transaction sees the
 * rows of the tenant in `backscroll.tenant`, and none without it. `tenants` maps names to numbers
 * and stays open.
 *
 * A token is looked up before its tenant is known, so the row whose id the transaction has set is
 * visible too.
 */
const ROW_SECURITY: string = `
-- Once set, the setting is an empty string in later transactions, not null.
DO $security$
DECLARE
  keyed text;
BEGIN
  FOREACH keyed IN ARRAY ARRAY[
    'sessions', 'session_state', 'participants', 'chains', 'entries', 'blobs',
    'entry_blobs', 'streams', 'stream_chunks', 'idempotency', 'memories', 'facts',
    'changes', 'tombstones', 'records', 'index_manifest', 'index_segments', 'index_blobs',
    'session_models', 'ingested_files', 'originals', 'original_parts', 'original_sessions',
    'access_tokens', 'routes', 'route_sessions']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', keyed);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', keyed);
    -- A plan that is made once for all tenants must suit the large ones. Among thousands of small ones
    -- the planner takes all rows of a tenant for one row, and reads them where a key would do.
    EXECUTE format('ALTER TABLE %I ALTER COLUMN tenant SET (n_distinct = 100)', keyed);
    EXECUTE format('CREATE POLICY own_tenant ON %I
      USING (tenant = nullif(current_setting(''backscroll.tenant'', true), '''')::bigint)', keyed);
  END LOOP;
END
$security$;

CREATE POLICY named_token ON access_tokens FOR SELECT
  USING (id = current_setting('backscroll.token', true));
`;

/** The tables of the first release, in the order in which they are created. */
const SCHEMA: string = [
  CONVERSATIONS,
  LIVE,
  FEED,
  NOTES,
  SEARCH,
  ARCHIVE,
  ACCESS,
  ROUTES,
  ROW_SECURITY,
].join("");

export const POSTGRES_MIGRATIONS: readonly Migration[] = migrationsOf("postgres", SCHEMA);
