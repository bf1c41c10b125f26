/**
 * The manifest, lease and segments of each tenant's index, and the models of each session's
 * messages, for filters and counts: `entries` has no index by model, and one would cost every
 * append more. Triggers maintain the table, and a restored copy fills it with its entries.
 * Retention erases the oldest entries first, so the search for another entry of a model begins
 * after the erased one.
 */
export const SEARCH: string = `
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
