import type { Migration } from "../../migration.ts";

/** No-op: only SQLite stores a message and its change in one row. */
export const FEED_IN_ENTRIES: Migration = {
  version: 9,
  name: "feed-in-entries",
  minReader: 9,
  minWriter: 9,
  sql: "SELECT 1",
};
