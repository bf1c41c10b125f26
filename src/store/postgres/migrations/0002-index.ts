import type { Migration } from "../../migration.ts";

/**
 * The manifest, lease and segments of each tenant's index. All of it is derived from the other
 * tables. Older versions do not know these and may go on writing: the index follows the feed, which
 * they write.
 */
export const INDEX: Migration = {
  version: 2,
  name: "index",
  minReader: 1,
  minWriter: 1,
  sql: `
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

-- Whole segments come and go: what they leave is to be cleared soon, not after a fifth of the table.
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

DO $security$
DECLARE
  keyed text;
BEGIN
  FOREACH keyed IN ARRAY ARRAY['index_manifest', 'index_segments', 'index_blobs']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', keyed);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', keyed);
    EXECUTE format('CREATE POLICY own_tenant ON %I
      USING (tenant = nullif(current_setting(''backscroll.tenant'', true), '''')::bigint)', keyed);
  END LOOP;
END
$security$;
`,
};
