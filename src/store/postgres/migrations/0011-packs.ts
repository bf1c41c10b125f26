import type { Migration } from "../../migration.ts";

/** Nothing to do here: only SQLite packs what neighbouring entries have alike. */
export const PACKS: Migration = {
  version: 11,
  name: "packs",
  minReader: 11,
  minWriter: 11,
  sql: "SELECT 1",
};
