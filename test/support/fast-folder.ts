/** Where the data of servers is kept that die with the tests. */

import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";

/** Memory, if there is a file system in it with enough room: no disk then slows the tests down. */
export async function fastFolder(bytes: number): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > bytes ? memory : tmpdir();
}
