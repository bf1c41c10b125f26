/** Importing one file: what was read of it, what was stored, and what could not be used. */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { ImportProblem } from "../../ingest/problems.ts";
import { readTranscript } from "../../ingest/sources.ts";
import { BackscrollError } from "../../model/errors.ts";
import { usageError } from "../command.ts";

export interface FileReport {
  /** `-` for standard input. */
  readonly file: string;
  readonly source: string;
  readonly sessions: readonly SessionReport[];
  /** The first hundred. */
  readonly problems: readonly ImportProblem[];
  readonly problemCounts: ReadonlyMap<string, number>;
}

export interface SessionReport {
  readonly sessionId: string | null;
  readonly created: boolean;
  readonly entries: number;
  readonly skipped: number;
}

export interface FileOptions {
  readonly source?: string;
  readonly dryRun: boolean;
  readonly onProgress: (entries: number) => void;
}

/** Throws `unknown_format`, or `invalid_input` for a file that cannot be read. */
export async function importFile(
  tenant: TenantEngine,
  name: string,
  options: FileOptions,
): Promise<FileReport> {
  const { source, dryRun, onProgress } = options;
  const path = name === "-" ? "" : resolve(name);
  try {
    const transcript = await readTranscript({
      ...{ path, bytes: name === "-" ? process.stdin : await openFile(path) },
      ...(source === undefined ? {} : { source }),
    });
    const sessions: SessionReport[] = [];
    for await (const session of transcript.sessions) {
      const file = path === "" ? {} : { file: path };
      const result = await tenant.importSession(session, { ...file, dryRun, onProgress });
      const { sessionId, created, entries, skipped } = result;
      sessions.push({ sessionId, created, entries, skipped });
    }
    const { first: problems, counts: problemCounts } = transcript.problems;
    return { file: name, source: transcript.source, sessions, problems, problemCounts };
  } catch (error) {
    throw toReadable(error, name);
  }
}

async function openFile(path: string): Promise<AsyncIterable<Uint8Array>> {
  // A device or a pipe could be without end.
  if (!(await stat(path)).isFile()) throw usageError(`${path} is no file`, "FILE");
  return createReadStream(path);
}

/** A file that is not there, or may not be read, is a mistake on the command line. */
function toReadable(error: unknown, name: string): unknown {
  if (BackscrollError.is(error) || !(error instanceof Error) || !("syscall" in error)) return error;
  return new BackscrollError("invalid_input", `${name} cannot be read: ${error.message}`, {
    details: { field: "FILE", file: name },
    cause: error,
  });
}
