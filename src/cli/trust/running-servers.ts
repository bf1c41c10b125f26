/** The servers of this user that run now: each has a file in `~/.backscroll` with its address. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { localTokenFile } from "../settings/local-token.ts";

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
