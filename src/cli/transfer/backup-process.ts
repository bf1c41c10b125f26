/**
 * A backup that another process makes: this one serves, and copying a store takes a thread and the disk
 * for as long as it lasts.
 */

import { spawn } from "node:child_process";
import { fromWireError, type WireError } from "../../api/error.ts";
import type { CopyStore } from "../../server/route.ts";

/** `address` is no store in memory: that would be another one there. */
export function copyInProcess(address: string): CopyStore {
  return async (file, signal) => {
    const child = spawn(process.execPath, [process.argv[1] ?? "", "backup", file, "--json"], {
      // By the environment: a password in the address is not for everybody's list of processes.
      env: { ...process.env, BACKSCROLL_DB: address },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject).on("close", resolve);
    });
    if (code !== 0) throw toError(await err, code);
    const { rows } = JSON.parse(await out) as { readonly rows: number };
    return { rows };
  };
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** What the other process says of its failure, as if it were our own. */
function toError(said: string, code: number | null): Error {
  try {
    return fromWireError(JSON.parse(said) as WireError);
  } catch {
    return new Error(`the process that copies the store ended with ${code}`);
  }
}
