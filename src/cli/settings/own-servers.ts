/**
 * The servers of this user: the addresses of those that run now, each in a file of `~/.backscroll`,
 * and their token, in a file that only the user may read.
 *
 * The token proves to a server on this machine whose call it is, where the system does not tell:
 * see `src/server/local-access.ts`. It stays the same, so that a bookmark works next month.
 */

import { randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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

const NAME = /^serve-(\d+)\.url$/;

/** Gives the function that takes the file away. */
export function announceServer(url: string): () => void {
  const file = join(dirname(localTokenFile()), `serve-${process.pid}.url`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${url}\n`, { mode: 0o600 });
  } catch {
    // A home that may not be written: the server runs unlisted.
  }
  return () => rmSync(file, { force: true });
}

/** Addresses. A file that a killed server left is passed over. */
export function runningServers(): string[] {
  const folder = dirname(localTokenFile());
  return namesIn(folder).flatMap((name) => {
    const [, pid] = NAME.exec(name) ?? [];
    return pid !== undefined && isRunning(Number(pid))
      ? [readFileSync(join(folder, name), "utf8").trim()]
      : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There is none before the first server.
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
