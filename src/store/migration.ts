/**
 * Numbered, immutable migrations, and the version check.
 *
 * `minReader` and `minWriter` are the oldest schema versions whose code may read and write a store
 * after this migration. So a newer version can add tables that older ones ignore, and an older one
 * refuses a store that it would damage.
 */

import { BackscrollError } from "../model/errors.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly minReader: number;
  readonly minWriter: number;
  readonly sql: string;
}

/** A migration of both databases, which so have the same versions. */
export interface MigrationPair extends Omit<Migration, "sql"> {
  readonly sqlite: string;
  readonly postgres: string;
}

/** What the `schema` table says; undefined in a new database. */
export interface SchemaState {
  readonly version: number;
  readonly minReader: number;
  readonly minWriter: number;
}

/** The migrations that are still to run. */
export function pendingMigrations(
  state: SchemaState | undefined,
  migrations: readonly Migration[],
): readonly Migration[] {
  return migrations.filter((migration) => migration.version > (state?.version ?? 0));
}

/** Throws `schema_too_new` or `needs_migration` unless this code may use a store in `state`. */
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
  if (pendingMigrations(state, migrations).length > 0) {
    throw new BackscrollError(
      "needs_migration",
      `the store has schema version ${state?.version ?? 0}, this backscroll needs ${known}; open it once for writing to migrate it (backscroll status --create), after a backup`,
      { details: { version: state?.version ?? 0, supported: known } },
    );
  }
}
