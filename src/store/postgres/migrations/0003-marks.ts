import type { Migration } from "../../migration.ts";

/**
 * Finds the few entries of a session that are pinned, replaced or summaries without reading it. Older
 * versions keep these indexes up to date without knowing them.
 */
export const MARKS: Migration = {
  version: 3,
  name: "marks",
  minReader: 1,
  minWriter: 1,
  sql: `
CREATE INDEX entries_pinned ON entries (tenant, session, sequence) WHERE pinned = 1;
CREATE INDEX entries_superseded ON entries (tenant, session, sequence)
  WHERE superseded_by IS NOT NULL;
CREATE INDEX entries_summaries ON entries (tenant, session, sequence)
  WHERE kind IN ('compaction', 'summary');
`,
};
