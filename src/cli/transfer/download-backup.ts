/** Downloads a backup of a server's store: the file appears once it is complete and verified. */

import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { resolveNew } from "../../backup.ts";
import type { RemoteEngine } from "../../client/index.ts";

export interface DownloadedBackup {
  readonly file: string;
  readonly rows: number;
}

/** `onProgress` gets the received and the total bytes. */
export async function downloadBackup(
  engine: RemoteEngine,
  path: string,
  onProgress: (bytes: number, of: number) => void,
): Promise<DownloadedBackup> {
  const file = resolveNew(path);
  const partial = `${file}.partial`;
  // Mode 0600: it holds conversations. Created first: a bad name should not cost a copy.
  const handle = await open(partial, "w", 0o600);
  try {
    const { body, rows, bytes } = await engine.backup({ hash: createHash("sha256") });
    let written = 0;
    for await (const piece of body) {
      await handle.appendFile(piece);
      written += piece.length;
      onProgress(written, bytes);
    }
    await handle.sync();
    await rename(partial, file);
    return { file, rows };
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}
