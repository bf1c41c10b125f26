import type { Migration } from "../../migration.ts";

/**
 * The bytes of ingested files, and which sessions were derived from them. A part is a range of a file
 * as one zstd frame with a checksum. An older version would leave the bytes of a
 * session behind that it deletes, so it may not write.
 */
export const ORIGINALS: Migration = {
  version: 13,
  name: "originals",
  minReader: 11,
  minWriter: 13,
  sql: `
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
ALTER TABLE originals ENABLE ROW LEVEL SECURITY;
ALTER TABLE originals FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON originals
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);

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
ALTER TABLE original_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE original_parts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON original_parts
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);

CREATE TABLE original_sessions (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
);
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);
ALTER TABLE original_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE original_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON original_sessions
  USING (tenant = nullif(current_setting('backscroll.tenant', true), '')::bigint);
`,
};
