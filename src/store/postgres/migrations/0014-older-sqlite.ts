import type { Migration } from "../../migration.ts";

/** Nothing to do here: only SQLite's schema is read by SQLite. */
export const OLDER_SQLITE: Migration = {
  version: 14,
  name: "older-sqlite",
  minReader: 11,
  minWriter: 13,
  sql: "SELECT 1",
};
