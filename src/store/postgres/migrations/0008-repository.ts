import type { Migration } from "../../migration.ts";

/**
 * The repository of each session, to find clones and worktrees of one together. Sessions that were
 * read before have it in their metadata. What the source says that a session has cost. What a reader of files needs to go on is packed from now on:
 * an older version could not read it, and must not write any more.
 */
export const REPOSITORY: Migration = {
  version: 8,
  name: "repository",
  minReader: 1,
  minWriter: 8,
  sql: `
ALTER TABLE sessions ADD COLUMN repo text COLLATE "C";
UPDATE sessions SET repo = convert_from(metadata, 'UTF8')::json #>> '{git,remote}'
  WHERE metadata IS NOT NULL AND position('"remote"'::bytea IN metadata) > 0;
ALTER TABLE sessions ADD COLUMN cost_usd double precision;
CREATE INDEX sessions_by_repo ON sessions (tenant, repo) WHERE repo IS NOT NULL;
`,
};
