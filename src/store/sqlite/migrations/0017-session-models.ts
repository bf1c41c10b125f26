import type { Migration } from "../../migration.ts";

/**
 * The models whose messages a session has, for filters and counts: `entries` has no index by model, and
 * one would cost every append more. Triggers maintain the table, so older versions may write, and a
 * restored copy fills it with its entries.
 */
export const SESSION_MODELS: Migration = {
  version: 17,
  name: "session-models",
  minReader: 11,
  minWriter: 16,
  sql: `
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
};
