import type { Migration } from "../../migration.ts";

/**
 * Finds the sessions that are to forget what was summarised, and the facts of an entry. An older
 * version must not write any more: its upkeep of the index would keep words that were erased.
 */
export const RETENTION: Migration = {
  version: 4,
  name: "retention",
  minReader: 1,
  minWriter: 4,
  sql: `
ALTER TABLE sessions ADD COLUMN retention_applied INTEGER;
CREATE INDEX sessions_forgetting ON sessions (tenant, id) WHERE retention <> 'full';
CREATE INDEX facts_by_source ON facts (tenant, source_entry_id) WHERE source_entry_id IS NOT NULL;
`,
};
