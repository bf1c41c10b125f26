import type { Migration } from "../../migration.ts";

/** Nothing to do here: only SQLite keeps a message and what the feed says of it in one row. */
export const FEED_IN_ENTRIES: Migration = {
  version: 9,
  name: "feed-in-entries",
  minReader: 9,
  minWriter: 9,
  sql: "SELECT 1",
};
