/** `node:sqlite` without its warning. */

import type * as NodeSqlite from "node:sqlite";

/**
 * Node 22 prints on first use, in each thread, that SQLite is experimental. This package is tested
 * with that version, and a user of it cannot act on the warning. An import would emit it while
 * modules are linked, before any code of ours runs.
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
