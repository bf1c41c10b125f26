/**
 * The manifest and lease of each tenant's index, and the models of each session's messages, for
 * filters and counts: `entries` has no index by model, and one would cost every append more.
 * Triggers maintain the table, and a restored copy fills it with its entries. Retention erases the
 * oldest entries first, so the search for another entry of a model begins after the erased one.
 *
 * The segments of the index are in a file beside this one: they are derived, large, and rewritten
 * in the background.
 */
export const SEARCH: string = `
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
