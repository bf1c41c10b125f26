/**
 * A copy of the whole store, sent as a file.
 *
 * It is first made on this machine: its hash precedes its first byte, and a slow reader keeps no
 * transaction open. One is made at a time, because each takes as much space as the store.
 */

import type { Engine } from "../../engine/engine.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { CopyStore } from "../app-options.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { StoreCopy } from "../store-copy.ts";

/** SQLite's media type, which is not compressed: the hash is of the sent bytes. */
const TYPE = "application/vnd.sqlite3";

/** The retry delay while another copy is made or sent. */
const RETRY_MS = 10_000;
/** A reader that stalls for this long is cut off: its copy takes disk space. */
const STALL_MS = 60_000;

export const BACKUP_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/backup",
    operation: "backup",
    tag: "admin",
    summary: "A snapshot of the whole store.",
    scope: "admin",
    operator: true,
    answer: {
      status: 200,
      description:
        "A SQLite store, whatever the original is. `Content-Digest` has its SHA-256, `Backscroll-Rows` its number of rows.",
      types: [TYPE],
    },
    handle: sendBackup,
  }),
];

/** Copies an engine's store in this process. */
export function copyHere(engine: Engine): CopyStore {
  return async (file, signal) => {
    // Loaded on demand: only this route opens a store.
    const { backupEngine } = await import("../../backup.ts");
    return backupEngine(engine, file, { onProgress: () => signal.throwIfAborted() });
  };
}

const HEADERS = {
  "content-type": TYPE,
  "cache-control": "no-store",
  "content-disposition": 'attachment; filename="backscroll.db"',
} as const;

/** The logged status of a request whose caller has left, as in proxies. Never sent. */
const GONE = 499;

/** Stores of which a copy is in progress. */
const copied = new WeakSet<Engine>();

async function sendBackup(caller: Caller): Promise<Response> {
  const { engine, request, signal, cutOff } = caller;
  // No copy for HEAD: its size and hash are unknown.
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  if (copied.has(engine)) {
    throw new BackscrollError("store_busy", "another backup is being made; ask again later", {
      details: { retryAfterMs: RETRY_MS },
    });
  }
  copied.add(engine);
  let stalled: NodeJS.Timeout | undefined;
  const copy = new StoreCopy(() => {
    clearTimeout(stalled);
    copied.delete(engine);
  });
  const waited = () => {
    clearTimeout(stalled);
    stalled = setTimeout(() => void copy.end().finally(cutOff), STALL_MS).unref();
  };
  try {
    // Recorded only now, because a refused one was not made; and before it is made, so that the
    // copy includes it.
    await caller.tenant.noteAct("backup");
    const { rows, bytes, digest } = await copy.make(caller.copyStore, signal);
    waited();
    return new Response(copy.toStream(waited), {
      headers: {
        ...HEADERS,
        "content-length": String(bytes),
        "content-digest": `sha-256=:${digest}:`,
        "backscroll-rows": String(rows),
      },
    });
  } catch (error) {
    await copy.end();
    if (request.signal.aborted) return new Response(null, { status: GONE });
    if (!signal.aborted) throw error;
    throw new BackscrollError("store_closed", "the server is stopping; ask again", {
      cause: error,
    });
  }
}
