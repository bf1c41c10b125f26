import type { Migration } from "../../migration.ts";

/**
 * Indexes for sessions with a retention, and for the facts of an entry. Older versions must not
 * write: their index upkeep would keep erased words.
 */
export const RETENTION: Migration = {
  version: 4,
  name: "retention",
  minReader: 1,
  minWriter: 4,
  sql: `
ALTER TABLE sessions ADD COLUMN retention_applied bigint;
CREATE INDEX sessions_forgetting ON sessions (tenant, id) WHERE retention <> 'full';
CREATE INDEX facts_by_source ON facts (tenant, source_entry_id) WHERE source_entry_id IS NOT NULL;
`,
};
