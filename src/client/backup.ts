/**
 * Downloads a copy of a whole remote store as a stream.
 *
 * The caller writes it to a file, because browsers have none. Reading fails if the bytes do not
 * match the hash.
 */

import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { Connection } from "./connection.ts";
import { lostConnection, notOurs } from "./failure.ts";

export interface RemoteBackup {
  /** A SQLite store, whatever the original. Fails at its end on a hash mismatch. */
  readonly body: ReadableStream<Uint8Array>;
  /** The SHA-256 of the file, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly rows: number;
}

/** Computes a SHA-256 incrementally, which browsers cannot. */
export interface PieceHash {
  update(piece: Uint8Array): unknown;
  digest(encoding: "hex"): string;
}

export interface BackupOptions {
  readonly signal?: AbortSignal;
  /**
   * Checks the bytes against `sha256`, such as `createHash("sha256")` of Node. Default: no check.
   */
  readonly hash?: PieceHash;
}

export async function backup(
  connection: Connection,
  options: BackupOptions,
): Promise<RemoteBackup> {
  const { signal, hash } = checkFields(options, "options", INPUTS["connect.backup"]);
  const own = signal ?? new AbortController().signal;
  const { headers, body } = await connection.open({
    method: "GET",
    path: "/v1/backup",
    signal: own,
    headers: { accept: "*/*" },
    // The server sends headers only after the copy is made.
    slow: true,
  });
  const digest = /^sha-256=:([A-Za-z0-9+/=]+):$/.exec(headers.get("content-digest") ?? "")?.[1];
  const bytes = Number(headers.get("content-length"));
  const rows = Number(headers.get("backscroll-rows"));
  if (digest === undefined || !Number.isSafeInteger(bytes) || !Number.isSafeInteger(rows)) {
    await body.cancel();
    throw notOurs(connection.address, "its answer is not a backup");
  }
  const sha256 = Array.from(atob(digest), (c) => c.charCodeAt(0).toString(16).padStart(2, "0"));
  const expected = { bytes, sha256: sha256.join("") };
  return { ...expected, rows, body: checked(connection, body, expected, hash) };
}

function checked(
  connection: Connection,
  body: ReadableStream<Uint8Array>,
  expected: { readonly bytes: number; readonly sha256: string },
  hash: PieceHash | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await reader.read().catch((error: unknown) => {
        throw lostConnection(connection.address, error);
      });
      if (!next.done) {
        bytes += next.value.length;
        hash?.update(next.value);
        return controller.enqueue(next.value);
      }
      const isWhole = bytes === expected.bytes;
      if (isWhole && (hash === undefined || hash.digest("hex") === expected.sha256)) {
        return controller.close();
      }
      throw new BackscrollError(
        "store_unavailable",
        `the backup arrived with ${bytes} of ${expected.bytes} bytes, or changed on its way; ask for it again`,
        { details: { address: connection.address } },
      );
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
