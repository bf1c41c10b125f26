import type { MigrationPair } from "../migration.ts";

/**
 * The models whose messages a session has, for filters and counts: `entries` has no index by model, and
 * one would cost every append more. Triggers maintain the table, so older versions may write, and a
 * restored copy fills it with its entries. In PostgreSQL the owner of the
 * tables fills it for all tenants at once.
 */
export const SESSION_MODELS: MigrationPair = {
  version: 17,
  name: "session-models",
  minReader: 11,
  minWriter: 16,
  sqlite: `
CREATE TABLE session_models (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  model TEXT NOT NULL,
  PRIMARY KEY (tenant, session, model)
) WITHOUT ROWID;
CREATE INDEX session_models_by_model ON session_models (tenant, model, session);
INSERT INTO session_models (tenant, session, model)
SELECT DISTINCT tenant, session, model FROM entries WHERE model IS NOT NULL AND kind = 'message';
CREATE TRIGGER entries_have_models AFTER INSERT ON entries
WHEN NEW.model IS NOT NULL AND NEW.kind = 'message' AND NOT EXISTS (SELECT 1 FROM session_models m
  WHERE m.tenant = NEW.tenant AND m.session = NEW.session AND m.model = NEW.model)
BEGIN
  INSERT INTO session_models (tenant, session, model) VALUES (NEW.tenant, NEW.session, NEW.model);
END;
CREATE TRIGGER sessions_had_models AFTER DELETE ON sessions
BEGIN
  DELETE FROM session_models WHERE tenant = OLD.tenant AND session = OLD.session;
END;
`,
  postgres: `
CREATE TABLE session_models (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session, model)
);
CREATE INDEX session_models_by_model ON session_models (tenant, model, session);
ALTER TABLE entries NO FORCE ROW LEVEL SECURITY;
INSERT INTO session_models (tenant, session, model)
SELECT DISTINCT tenant, session, model FROM entries WHERE model IS NOT NULL AND kind = 'message';
ALTER TABLE entries FORCE ROW LEVEL SECURITY;
ALTER TABLE session_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_models FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON session_models
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);

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
CREATE FUNCTION backscroll_drop_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session_models m USING gone g WHERE m.tenant = g.tenant AND m.session = g.session;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_had_models AFTER DELETE ON sessions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION backscroll_drop_models();
`,
};
