import type { Migration } from "../../migration.ts";
import { INITIAL } from "./0001-initial.ts";
import { INDEX } from "./0002-index.ts";
import { MARKS } from "./0003-marks.ts";

/** In the order in which they run. Append only. */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [INITIAL, INDEX, MARKS];
