/**
 * Forward-only schema migrations, with compatibility bounds.
 *
 * `minReader` and `minWriter` are the oldest schema versions whose code may read and write a store
 * after this migration. So a newer version can add tables that older ones ignore, and an older one
 * refuses a store that it would damage.
 */

import { BackscrollError } from "../model/errors.ts";
import type { Backend } from "../model/inputs/choices.ts";

/** The schema of the first release; development versions had lower numbers. */
const FIRST_VERSION = 18;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly minReader: number;
  readonly minWriter: number;
  readonly sql: string;
  /** Shows readers that may not migrate what it will make; SQLite only. */
  readonly bridge?: string | undefined;
}

/** A migration of both databases, which therefore have the same versions. */
interface MigrationPair extends Omit<Migration, "sql"> {
  readonly sqlite: string;
  readonly postgres: string;
}

/** The newest row of the `schema` table; undefined in a new database. */
export interface SchemaState {
  readonly version: number;
  readonly minReader: number;
  readonly minWriter: number;
}

/** The pending migrations. Throws `schema_too_old` for a store from before the first release. */
export function pendingMigrations(
  state: SchemaState | undefined,
  migrations: readonly Migration[],
): readonly Migration[] {
  const oldest = migrations[0]?.version ?? 0;
  if (state !== undefined && state.version < oldest) throw tooOld(state.version, oldest);
  return migrations.filter((migration) => migration.version > (state?.version ?? 0));
}

/** Throws `schema_too_new`, `schema_too_old` or `needs_migration` unless this code may use a store in `state`. */
export function checkSchema(
  state: SchemaState | undefined,
  migrations: readonly Migration[],
  use: "read" | "write",
): void {
  const known = migrations.at(-1)?.version ?? 0;
  const needed = use === "read" ? state?.minReader : state?.minWriter;
  if (state !== undefined && needed !== undefined && needed > known) {
    throw new BackscrollError(
      "schema_too_new",
      `the store has schema version ${state.version}, this backscroll knows ${known} and may not ${use} it; update backscroll (npm install -g backscroll)`,
      { details: { version: state.version, supported: known } },
    );
  }
  const pending = pendingMigrations(state, migrations);
  const isBridged = use === "read" && pending.every(({ bridge }) => bridge !== undefined);
  if (pending.length > 0 && !isBridged) {
    throw new BackscrollError(
      "needs_migration",
      `the store has schema version ${state?.version ?? 0}, this backscroll needs ${known}; open it once for writing to migrate it (backscroll status --create), after a backup`,
      { details: { version: state?.version ?? 0, supported: known } },
    );
  }
}

function tooOld(version: number, supported: number): BackscrollError {
  return new BackscrollError(
    "schema_too_old",
    `the store is of a development version (schema version ${version}, the first release has ${supported}); it was left as it is: read the transcripts into a new store (backscroll ingest --db FILE), and carry over sessions that were written live with the version that made it (backscroll export ID --format atif FILE), then backscroll ingest FILE`,
    { details: { version, supported } },
  );
}

/** In execution order. Append only. */
const PAIRS: readonly MigrationPair[] = [
  {
    version: 19,
    name: "provenance",
    // An older version leaves the column empty: see `provenanceOf`.
    minReader: 18,
    minWriter: 18,
    sqlite: "ALTER TABLE sessions ADD COLUMN provenance TEXT;",
    bridge: "CREATE TEMP VIEW sessions AS SELECT *, NULL AS provenance FROM main.sessions;",
    postgres: "ALTER TABLE sessions ADD COLUMN provenance text;",
  },
];

export function migrationsOf(backend: Backend, initial: string): readonly Migration[] {
  const first = {
    version: FIRST_VERSION,
    name: "initial",
    minReader: FIRST_VERSION,
    minWriter: FIRST_VERSION,
    sql: initial,
  };
  const later = PAIRS.map(({ sqlite, postgres, bridge, ...facts }) => ({
    ...facts,
    ...(backend === "sqlite" ? { sql: sqlite, bridge } : { sql: postgres }),
  }));
  return [first, ...later];
}
