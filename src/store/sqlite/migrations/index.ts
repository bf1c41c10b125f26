import type { Migration } from "../../migration.ts";
import { sharedMigrations } from "../../migrations/index.ts";
import { INITIAL } from "./0001-initial.ts";
import { INDEX } from "./0002-index.ts";
import { MARKS } from "./0003-marks.ts";
import { RETENTION } from "./0004-retention.ts";
import { INGEST } from "./0005-ingest.ts";
import { ACCESS } from "./0006-access.ts";
import { ROUTES } from "./0007-routes.ts";
import { REPOSITORY } from "./0008-repository.ts";
import { FEED_IN_ENTRIES } from "./0009-feed-in-entries.ts";
import { USAGE_IN_ENTRIES } from "./0010-usage-in-entries.ts";
import { PACKS } from "./0011-packs.ts";
import { SHORT_IDS } from "./0012-short-ids.ts";
import { ORIGINALS } from "./0013-originals.ts";
import { OLDER_SQLITE } from "./0014-older-sqlite.ts";

/** In the order in which they run. A new one is added in `store/migrations`. */
export const SQLITE_MIGRATIONS: readonly Migration[] = [
  INITIAL,
  INDEX,
  MARKS,
  RETENTION,
  INGEST,
  ACCESS,
  ROUTES,
  REPOSITORY,
  FEED_IN_ENTRIES,
  USAGE_IN_ENTRIES,
  PACKS,
  SHORT_IDS,
  ORIGINALS,
  OLDER_SQLITE,
  ...sharedMigrations("sqlite"),
];
