/**
 * The current and past sessions of each key.
 *
 * `fields` is a JSON object as UTF-8. `version` grows with every change of a route; in
 * `route_sessions` it is the version at which the session became current.
 */
export const ROUTES: string = `
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
