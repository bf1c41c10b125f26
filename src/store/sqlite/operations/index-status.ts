/** The state of tenants' indexes as a search sees it. */

import type { IndexStatus } from "../../index/index-status.ts";
import { MEMORY } from "../../store-options.ts";
import { usableManifest } from "../index/answer.ts";
import { indexStatus } from "../index/manifest.ts";
import { SegmentFile } from "../index/segment-file.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { readEpoch } from "../sqlite-schema.ts";

/** An index whose file is missing, or is another store's, has nothing. */
export function usableIndexStatus(db: SqliteConnection, name: string): IndexStatus {
  return usableIndexStatuses(db, [name])[0] as IndexStatus;
}

export function usableIndexStatuses(db: SqliteConnection, names: readonly string[]): IndexStatus[] {
  if (db.path === MEMORY) return names.map((name) => indexStatus(db, name));
  const file = new SegmentFile(db.path, true, () => readEpoch(db));
  const usable = (tenant: number) => usableManifest(db, file, tenant);
  try {
    return names.map((name) => indexStatus(db, name, usable));
  } finally {
    file.close();
  }
}
