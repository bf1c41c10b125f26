/** A Unix socket that only its owner may open, beside a server's port. */

import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:http";
import { connect } from "node:net";

/** Linux takes 107 bytes, macOS 103. */
const MAX_PATH = 103;

/**
 * Lets `server` listen at `path` too. Gives false where that is impossible: the path is too long,
 * or another server listens there. A socket that a killed server left is replaced.
 */
export async function listenAtSocket(server: Server, path: string): Promise<boolean> {
  if (process.platform === "win32" || Buffer.byteLength(path) > MAX_PATH) return false;
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined) {
    if (!there.isSocket() || (await isAlive(path))) return false;
    await unlink(path).catch(() => undefined);
  }
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    // The file appears with this mode, within the call.
    const mask = process.umask(0o177);
    try {
      server.listen({ path }, () => resolve(true));
    } finally {
      process.umask(mask);
    }
  });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const end = (alive: boolean) => {
      socket.destroy();
      resolve(alive);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
