/** Reads fixtures and generated transcripts as a whole. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportResult } from "../../src/engine/import/import-session.ts";
import type { ImportOptions } from "../../src/engine/import/import-subject.ts";
import type { SessionHandle } from "../../src/engine/session-handle.ts";
import type { TenantEngine } from "../../src/engine/tenant-engine.ts";
import { exportSession, findFormat } from "../../src/export/formats.ts";
import type { ImportProblem } from "../../src/ingest/problems.ts";
import { readTranscript } from "../../src/ingest/read-transcript.ts";
import type { ImportedEntry, ImportedSession } from "../../src/ingest/source.ts";
import { type ExportSelection, toExportInput } from "../../src/transfer/export-session.ts";
import { ROOT } from "./cli.ts";

export interface ReadWhole {
  readonly sessions: readonly {
    readonly session: ImportedSession;
    readonly entries: readonly ImportedEntry[];
    readonly leaf: string | null | undefined;
  }[];
  readonly problems: readonly ImportProblem[];
  readonly source: string;
}

export function fixture(name: string): string {
  return readFileSync(join(ROOT, "test/fixtures", name), "utf8");
}

/** The result of a reader for `content`, in chunks of `pieces` bytes. */
export async function readWhole(
  content: string | Uint8Array,
  options: { readonly path?: string; readonly source?: string; readonly pieces?: number } = {},
): Promise<ReadWhole> {
  const { pieces = 50, ...input } = options;
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const transcript = await readTranscript({ ...input, bytes: cut(bytes, pieces) });
  const sessions = [];
  for await (const session of transcript.sessions) {
    const entries: ImportedEntry[] = [];
    for await (const entry of session.entries) entries.push(entry);
    sessions.push({ session, entries, leaf: session.leaf?.() });
  }
  return { sessions, problems: transcript.problems.first, source: transcript.source };
}

/** Chunks that share one buffer, as a file reader may reuse it. */
function* cut(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  const piece = new Uint8Array(length);
  for (let start = 0; start < bytes.length; start += length) {
    const part = bytes.subarray(start, start + length);
    piece.set(part);
    yield piece.subarray(0, part.length);
  }
}

/** Imports `content` and gives the session. */
export async function importText(
  tenant: TenantEngine,
  content: string,
  options: ImportOptions & { readonly path?: string } = {},
): Promise<{ readonly handle: SessionHandle; readonly result: ImportResult }> {
  const { path, ...rest } = options;
  const file = rest.file ?? path;
  const transcript = await readTranscript({
    bytes: [Buffer.from(content)],
    ...(path === undefined ? {} : { path }),
  });
  for await (const session of transcript.sessions) {
    const result = await tenant.importSession(session, {
      ...rest,
      ...(file === undefined ? {} : { file }),
    });
    return { handle: await tenant.getSession(result.sessionId ?? ""), result };
  }
  throw new Error("the transcript holds no session");
}

/** The session exported as one text, and the losses. */
export async function exportText(
  handle: SessionHandle,
  format: string,
  selection: ExportSelection = {},
): Promise<{ readonly text: string; readonly losses: Readonly<Record<string, number>> }> {
  const found = findFormat(format);
  const input = await toExportInput(handle, found, { raw: true, ...selection });
  const { chunks, losses } = exportSession(found, input);
  let text = "";
  for await (const chunk of chunks) text += chunk;
  return { text, losses: Object.fromEntries(losses().map(({ what, count }) => [what, count])) };
}

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
