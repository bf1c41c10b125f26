/** The database file: allowed paths, permissions, and protection of foreign files. */

import { closeSync, mkdirSync, openSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { BackscrollError } from "../../model/errors.ts";
import { MEMORY } from "../store-options.ts";

/** File systems shared between machines: a shared-memory WAL index does not work there. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4266872130: "SMB2",
  4283649346: "CIFS",
  1397113167: "AFS",
  12805120: "Ceph",
  22092: "NCP",
};

/**
 * Prepares the location of a database and gives its absolute path. A new folder is accessible to
 * its owner only (0700), and so is a new file (0600); SQLite gives its side files the same mode.
 */
export function prepareFile(path: string, options: { create: boolean; readOnly: boolean }): string {
  if (path === MEMORY) return path;
  const file = resolve(path);
  const exists = isThere(file);
  if (!exists && !options.create) {
    throw new BackscrollError("store_not_found", `there is no store at ${file}`, {
      details: { path: file },
    });
  }
  if (!exists) createFile(file);
  refuseNetworkFileSystem(file);
  return file;
}

function networkFileSystem(type: number): string | undefined {
  return NETWORK_FILE_SYSTEMS[type >>> 0];
}

function createFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
  } catch (cause) {
    throw new BackscrollError(
      "store_unavailable",
      `the store cannot be created at ${file}: ${(cause as Error).message}`,
      { details: { path: file }, cause },
    );
  }
}

/**
 * Whether the file exists. Checks the path only: SQLite itself refuses files that are not
 * databases. Opening and closing it here would drop the POSIX locks that another store of this
 * process holds on it.
 */
function isThere(file: string): boolean {
  const found = statPath(file);
  if (found?.isDirectory()) {
    throw new BackscrollError("invalid_address", `${file} is a folder; name a file in it`, {
      details: { path: file },
    });
  }
  // SQLite treats a file of one byte as empty, and would overwrite it.
  if (found?.size === 1) {
    throw new BackscrollError(
      "store_corrupt",
      `${file} is not a database; it was left as it is: choose another path`,
      { details: { path: file } },
    );
  }
  return found !== undefined;
}

function statPath(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw new BackscrollError(
      "store_unavailable",
      `${file} cannot be accessed: ${(cause as Error).message}`,
      { details: { path: file }, cause },
    );
  }
}

function refuseNetworkFileSystem(file: string): void {
  const name = networkFileSystem(statfsSync(dirname(file)).type);
  if (name === undefined) return;
  throw new BackscrollError(
    "unsupported_storage",
    `${file} is on a network file system (${name}), where SQLite would lose writes; use a local disk, or PostgreSQL`,
    { details: { path: file, fileSystem: name } },
  );
}
