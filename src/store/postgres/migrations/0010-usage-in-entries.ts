import type { Migration } from "../../migration.ts";

/** Nothing to do here: only SQLite has what the feed says of a message in the message's row. */
export const USAGE_IN_ENTRIES: Migration = {
  version: 10,
  name: "usage-in-entries",
  minReader: 10,
  minWriter: 10,
  sql: "SELECT 1",
};
