import type { Migration } from "../../migration.ts";

/**
 * The manifest and lease of each tenant's index. The segments themselves are in a file beside this
 * one: they are derived, large, and rewritten in the background. Older versions do not know the
 * table and may go on writing: the index follows the feed, which they write.
 */
export const INDEX: Migration = {
  version: 2,
  name: "index",
  minReader: 1,
  minWriter: 1,
  sql: `
CREATE TABLE index_manifest (
  tenant INTEGER PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0,
  through INTEGER NOT NULL DEFAULT 0,
  body BLOB,
  holder TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL DEFAULT 0
);
`,
};
