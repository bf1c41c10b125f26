/** A brute-force look at a SQLite store: every value of every table, whatever wrote it. */

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";

/** The values of each table of the store and its index, unpacked. */
export function storedValues(path: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of [path, `${path}-index`].filter(existsSync)) {
    const db = new DatabaseSync(file, { readOnly: true });
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables) {
      const rows = db.prepare(`SELECT * FROM "${String(name)}"`).all();
      const table = `${file === path ? "" : "index."}${String(name)}`;
      found.set(table, rows.flatMap(Object.values).map(textOf));
    }
    db.close();
  }
  return found;
}

/** The tables that have the text in a value. */
export function tablesWith(path: string, text: string): string[] {
  return [...storedValues(path)]
    .filter(([, values]) => values.some((value) => value.includes(text)))
    .map(([table]) => table);
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  try {
    return zstdDecompressSync(value).toString("latin1");
  } catch {
    // Not compressed.
    return Buffer.from(value).toString("latin1");
  }
}
