/**
 * The token of a user's own servers, in a file that only the user may read.
 *
 * It proves to a server on this machine whose call it is, where the system does not tell: see
 * `src/server/local-access.ts`. It stays the same, so that a bookmark works next month.
 */

import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export function localTokenFile(): string {
  return join(homedir(), ".backscroll", "local-token");
}

/** The token; a new one if there is none, or if others may read it. */
export function ownToken(file: string = localTokenFile()): string {
  const kept = readToken(file);
  if (kept !== undefined) return kept;
  const token = `bsl_${randomBytes(32).toString("base64url")}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(file, { force: true });
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
    return token;
  } catch {
    // Another process has made it at the same time; or the home may not be written, and the token
    // lasts as long as the server.
    return readToken(file) ?? token;
  }
}

function readToken(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const { mode, uid } = lstatSync(file);
  const isPosix = process.platform !== "win32";
  if (isPosix && ((mode & 0o077) !== 0 || uid !== process.getuid?.())) return undefined;
  const token = readFileSync(file, "utf8").trim();
  return /^bsl_[\w-]{43}$/.test(token) ? token : undefined;
}

/**
 * The token for a server at `address`, if it is on this machine. Where the system tells users apart
 * it is not needed and not sent: another user's program might listen there.
 */
export function tokenForAddress(address: string): string | undefined {
  if (process.platform === "linux") return undefined;
  const { hostname } = new URL(address);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) return undefined;
  return readToken(localTokenFile());
}
