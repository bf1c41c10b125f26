/**
 * The current and past sessions of each key.
 *
 * `fields` is a JSON object as UTF-8. `version` grows with every change of a route; in
 * `route_sessions` it is the version at which the session became current.
 */
export const ROUTES: string = `
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
