/** Migrations since version 16, each in the words of both databases. */

import type { Backend } from "../../model/inputs/choices.ts";
import type { Migration, MigrationPair } from "../migration.ts";
import { RECORDS } from "./0016-records.ts";
import { SESSION_MODELS } from "./0017-session-models.ts";
import { FEED_IN_BULK } from "./0018-feed-in-bulk.ts";

/** In the order in which they run. Append only. */
const PAIRS: readonly MigrationPair[] = [RECORDS, SESSION_MODELS, FEED_IN_BULK];

export function sharedMigrations(backend: Backend): readonly Migration[] {
  return PAIRS.map(({ sqlite, postgres, ...facts }) => ({
    ...facts,
    sql: backend === "sqlite" ? sqlite : postgres,
  }));
}
