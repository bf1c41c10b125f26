/** `node:sqlite` without its warning. */

import type * as NodeSqlite from "node:sqlite";

/**
 * Node 22 warns on first use, in each thread, that SQLite is experimental; a user cannot act on it.
 * A static import would emit the warning while modules are linked, before this code runs.
 */
export function loadSqlite(): typeof NodeSqlite {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
