import { sharedMigrations } from "../../src/store/migrations/index.ts";

/** Statements that take back what the migrations since version 16 added to a SQLite store. */
export function undoSharedMigrations(): string[] {
  return sharedMigrations("sqlite")
    .flatMap(({ sql }) => sql.split(/;\s*\n|;$/))
    .reverse()
    .flatMap((statement) => undo(statement.trim()));
}

/** An index goes with its table, and so do the rows of one. */
function undo(statement: string): string[] {
  const [, kind, name] = /^CREATE (TABLE|TRIGGER) (\w+)/.exec(statement) ?? [];
  if (kind !== undefined) return [`DROP ${kind} ${name}`];
  const [, table, column] = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(statement) ?? [];
  return table === undefined ? [] : [`ALTER TABLE ${table} DROP COLUMN ${column}`];
}
