/**
 * A backup made by another process: this one serves, and copying a store keeps a thread and the
 * disk busy.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { fromWireError, type WireError } from "../../../api/error.ts";
import type { CopyStore } from "../../../server/app-options.ts";

/** `address` must not be an in-memory store, which another process cannot see. */
export function copyInProcess(address: string): CopyStore {
  return async (file, signal) => {
    signal.throwIfAborted();
    const child = spawn(process.execPath, [process.argv[1] ?? "", "backup", file, "--json"], {
      // Through the environment: a password in the address must not show in the process list.
      env: { ...process.env, BACKSCROLL_DB: address },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    // A process that could not start has no exit and, without descriptors, no pipes.
    await started(child);
    const { code, out, err } = await outcomeOf(child);
    signal.throwIfAborted();
    if (code !== 0) throw toError(err, code);
    const { rows } = JSON.parse(out) as { readonly rows: number };
    return { rows };
  };
}

/** Settles when the child is gone: until then it may still write. */
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
    // Emitted when the signal stops it, which is not yet its end.
    child.on("error", () => undefined).once("close", resolve);
  });
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** Maps the other process's failure to an error. */
function toError(said: string, code: number | null): Error {
  try {
    // Warnings may precede it as lines of text.
    return fromWireError(JSON.parse(said.slice(said.search(/^\{/m))) as WireError);
  } catch {
    return new Error(`the process that copies the store ended with ${code}`);
  }
}
