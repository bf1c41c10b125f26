/** `node:sqlite` of the runtime: Bun and Deno have their own under this name, older versions have none. */

import type * as NodeSqlite from "node:sqlite";
import { BackscrollError } from "../../model/errors.ts";

const loaded = load();

/** Throws `unsupported_storage` if the runtime has none, or one that is too old. */
export function nodeSqlite(): typeof NodeSqlite {
  // A later addition to the module, which Deno had last. Our types know only versions that have it.
  const isWhole = "setReturnArrays" in (loaded?.StatementSync.prototype ?? {});
  if (loaded !== undefined && isWhole) return loaded;
  const { bun, deno, node } = process.versions;
  const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
  const lack = loaded === undefined ? "has no node:sqlite, which" : "has an older node:sqlite than";
  throw new BackscrollError(
    "unsupported_storage",
    `${runtime} ${lack} a store in SQLite needs: use Node 22.18, Bun 1.4, Deno 2.7 or newer, or a server and backscroll/client`,
    { details: { runtime } },
  );
}

/**
 * Node 22 warns on first use, in each thread, that SQLite is experimental; a user cannot act on it.
 * A static import would emit the warning while modules are linked, before this code runs.
 */
function load(): typeof NodeSqlite | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
