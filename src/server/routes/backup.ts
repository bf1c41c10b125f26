/**
 * A copy of the whole store, sent as a file.
 *
 * It is made on this machine first: its hash stands before its first byte, and a slow reader keeps no
 * transaction open. One is made at a time, because each takes as much room as the store.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../engine/engine.ts";
import { BackscrollError } from "../../model/errors.ts";
import { type Caller, type CopyStore, defineRoute, type Route } from "../route.ts";

/** Of SQLite, and no type that is packed: the hash is of what is sent. */
const TYPE = "application/vnd.sqlite3";

/** How soon to ask again while another copy is made or sent. */
const RETRY_MS = 10_000;
/** A reader that takes nothing for so long is cut off: its copy takes room. */
const STALL_MS = 60_000;

export const BACKUP_ROUTES: readonly Route[] = [
  defineRoute({
    ...{ method: "get", path: "/v1/backup", operation: "backup", tag: "admin" },
    ...{ summary: "A copy of the whole store, as of one moment.", scope: "admin", operator: true },
    act: "backup",
    answer: {
      status: 200,
      description:
        "A SQLite store, whatever the original is. `Content-Digest` has its SHA-256, `Backscroll-Rows` how many rows it holds.",
      types: [TYPE],
    },
    handle: sendBackup,
  }),
];

/** Copies an engine's store in this process. */
export function copyHere(engine: Engine): CopyStore {
  return async (file, signal) => {
    // Loaded only here: nothing else of a server opens a store.
    const { backupEngine } = await import("../../backup.ts");
    return backupEngine(engine, file, { onProgress: () => signal.throwIfAborted() });
  };
}

/** Stores of which a copy is being made or sent. */
const copied = new WeakSet<Engine>();

async function sendBackup({ engine, copyStore, signal, cutOff }: Caller): Promise<Response> {
  if (copied.has(engine)) {
    throw new BackscrollError("store_busy", "another backup is being made; ask again later", {
      details: { retryAfterMs: RETRY_MS },
    });
  }
  copied.add(engine);
  const folder = await mkdtemp(join(tmpdir(), "backscroll-backup-"));
  let stalled: NodeJS.Timeout | undefined;
  const end = async () => {
    clearTimeout(stalled);
    copied.delete(engine);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const file = join(folder, "store.db");
    const { rows } = await copyStore(file, signal);
    const { size } = await stat(file);
    const digest = await hashOf(file, signal);
    const waited = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => void end().finally(cutOff), STALL_MS).unref();
    };
    return new Response(toStream(file, waited, end), {
      headers: {
        ...{ "content-type": TYPE, "content-length": String(size) },
        "content-digest": `sha-256=:${digest}:`,
        "content-disposition": 'attachment; filename="backscroll.db"',
        ...{ "cache-control": "no-store", "backscroll-rows": String(rows) },
      },
    });
  } catch (error) {
    await end();
    throw error;
  }
}

async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file, { signal })) hash.update(piece as Buffer);
  return hash.digest("base64");
}

/** Read when there is room for it. `end` is called when it is sent, or nobody wants it any more. */
function toStream(
  file: string,
  waited: () => void,
  end: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const pieces = createReadStream(file)[Symbol.asyncIterator]();
  waited();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        waited();
        const next = await pieces.next();
        if (!next.done) return controller.enqueue(next.value as Uint8Array);
        controller.close();
        await end();
      },
      async cancel() {
        await pieces.return?.();
        await end();
      },
    },
    { highWaterMark: 0 },
  );
}
