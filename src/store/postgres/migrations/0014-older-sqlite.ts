import type { Migration } from "../../migration.ts";

/** No-op: it concerns SQLite's schema. */
export const OLDER_SQLITE: Migration = {
  version: 14,
  name: "older-sqlite",
  minReader: 11,
  minWriter: 13,
  sql: "SELECT 1",
};
