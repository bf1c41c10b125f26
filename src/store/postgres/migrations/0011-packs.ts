import type { Migration } from "../../migration.ts";

/** No-op: only SQLite compresses neighbouring entries together. */
export const PACKS: Migration = {
  version: 11,
  name: "packs",
  minReader: 11,
  minWriter: 11,
  sql: "SELECT 1",
};
