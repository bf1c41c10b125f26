/** The SQL of the tables, for programs that read a store. */

import { type Command, defineCommand, flag } from "../../command.ts";

export const schema: Command = defineCommand({
  name: "schema",
  summary: "Print the SQL that creates a store: its tables, indexes and views.",
  details:
    "The migrations in their order; docs/schema.md says what tables and columns mean. It opens no store.",
  options: { postgres: flag("For PostgreSQL; for SQLite if left out.") },
  examples: ["schema", "schema --postgres"],
  run: async ({ terminal, json }, _args, { postgres = false }) => {
    // Most commands need only the migrations of their own database.
    const migrations = postgres
      ? (await import("../../../store/postgres/schema/index.ts")).POSTGRES_MIGRATIONS
      : (await import("../../../store/sqlite/schema/index.ts")).SQLITE_MIGRATIONS;
    const found = migrations.map(({ version, name, sql }) => ({ version, name, sql: sql.trim() }));
    if (json) return terminal.printJson({ migrations: found });
    for (const { version, name, sql } of found) {
      await terminal.print(`-- Version ${version}: ${name}\n\n${sql}\n`);
    }
  },
});
