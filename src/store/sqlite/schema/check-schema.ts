/** Checks that tables, indexes and views are those of the migrations. */

import { MEMORY } from "../../store-options.ts";
import { SQLITE_MIGRATIONS } from "../migrations.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { migrate, readSchema } from "../sqlite-schema.ts";

const OBJECTS = `SELECT type, name, tbl_name, sql FROM sqlite_schema
  WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`;

/**
 * Finds differences from a new store's schema: SQLite's integrity check does not notice a changed
 * schema text. Additional objects are ignored.
 */
export function checkSchemaText(db: SqliteConnection): string[] {
  // Another version has another schema.
  if (readSchema(db)?.version !== SQLITE_MIGRATIONS.at(-1)?.version) return [];
  const own = new SqliteConnection(MEMORY);
  try {
    migrate(own);
    const stored = new Set(db.all(OBJECTS).map(textOf));
    return own
      .all(OBJECTS)
      .filter((row) => !stored.has(textOf(row)))
      .map(
        (row) =>
          `the definition of the ${row["type"]} ${row["name"]} differs from that of this schema version`,
      );
  } finally {
    own.close();
  }
}

/** White space in a definition is ignored. */
function textOf(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(row).replace(/\\n|\s/g, "");
}
