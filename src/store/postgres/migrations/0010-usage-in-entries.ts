import type { Migration } from "../../migration.ts";

/** No-op: only SQLite stores a message's change in the message's row. */
export const USAGE_IN_ENTRIES: Migration = {
  version: 10,
  name: "usage-in-entries",
  minReader: 10,
  minWriter: 10,
  sql: "SELECT 1",
};
