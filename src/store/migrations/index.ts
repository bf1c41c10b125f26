/** The schema of the first release and later migrations, for both databases. */

import type { Backend } from "../../model/inputs/choices.ts";
import { FIRST_VERSION, type Migration, type MigrationPair } from "../migration.ts";

/** In execution order. Append only. */
const PAIRS: readonly MigrationPair[] = [];

export function migrationsOf(backend: Backend, initial: string): readonly Migration[] {
  const first = {
    version: FIRST_VERSION,
    name: "initial",
    minReader: FIRST_VERSION,
    minWriter: FIRST_VERSION,
    sql: initial,
  };
  const later = PAIRS.map(({ sqlite, postgres, ...facts }) => ({
    ...facts,
    sql: backend === "sqlite" ? sqlite : postgres,
  }));
  return [first, ...later];
}
