/** The folder for data of servers that live as long as the tests. */

import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";

/** A tmpfs with enough space, if there is one, so that tests do not wait for a disk. */
export async function fastFolder(bytes: number): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > bytes ? memory : tmpdir();
}
