/**
 * A backup that another process makes: this one serves, and copying a store takes a thread and the disk
 * for as long as it lasts.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { fromWireError, type WireError } from "../../api/error.ts";
import type { CopyStore } from "../../server/route.ts";

/** `address` is no store in memory: that would be another one there. */
export function copyInProcess(address: string): CopyStore {
  return async (file, signal) => {
    signal.throwIfAborted();
    const child = spawn(process.execPath, [process.argv[1] ?? "", "backup", file, "--json"], {
      // By the environment: a password in the address is not for everybody's list of processes.
      env: { ...process.env, BACKSCROLL_DB: address },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    // One that could not be started has neither an end nor, for want of descriptors, any pipes.
    await started(child);
    const { code, out, err } = await outcomeOf(child);
    signal.throwIfAborted();
    if (code !== 0) throw toError(err, code);
    const { rows } = JSON.parse(out) as { readonly rows: number };
    return { rows };
  };
}

/** Resolves and rejects when the child is gone, not before: until then it may go on writing. */
export async function outcomeOf(
  child: ChildProcess & Record<"stdout" | "stderr", AsyncIterable<Buffer>>,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const end = ended(child);
  try {
    const [out, err] = await Promise.all([collect(child.stdout), collect(child.stderr)]);
    return { code: await end, out, err };
  } catch (error) {
    // Its outcome would be lost.
    child.kill();
    await end;
    throw error;
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve).once("error", reject);
  });
}

/** Its exit code, also of one that was stopped. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    // Told when it is stopped by the signal, which is not yet its end.
    child.on("error", () => undefined).once("close", resolve);
  });
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** The other process's failure as an error of this one. */
function toError(said: string, code: number | null): Error {
  try {
    // Warnings may come first, as lines of text.
    return fromWireError(JSON.parse(said.slice(said.search(/^\{/m))) as WireError);
  } catch {
    return new Error(`the process that copies the store ended with ${code}`);
  }
}
