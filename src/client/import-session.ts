/**
 * Stores a session parsed here in a remote store.
 *
 * It is sent compressed while it is parsed, under an idempotency key: after a lost answer it is
 * sent again, and entries of the lost attempt count as stored. Problems of the server return to the
 * reader's own log.
 */

import {
  fromWireDescribed,
  fromWireImportResult,
  toWireImportedEntry,
  toWireImportOptions,
  toWireSessionHead,
  type WireImportLine,
  type WireImportResult,
} from "../api/imported-session.ts";
import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import type { UpdateSessionInput } from "../engine/session-input.ts";
import type { ImportProblemCode, ProblemLog } from "../ingest/problems.ts";
import type { ImportedSession } from "../ingest/source.ts";
import type { Connection } from "./connection.ts";
import { RepeatedBody } from "./repeated-body.ts";
import { keyHeader } from "./request.ts";

/** Chunk size, in characters. */
const PIECE = 64 * 1024;

/**
 * Compressed bytes kept for a retry: some 300 MB of a transcript. Larger sessions are sent once.
 */
const KEPT_BYTES = 32 * 1024 * 1024;

/** `update` applies the caller's description once the session is stored. */
export async function importSession(
  connection: Connection,
  imported: ImportedSession,
  options: ImportOptions,
  update: (sessionId: string, patch: UpdateSessionInput) => Promise<void>,
): Promise<ImportResult> {
  const lines = new ImportLines(imported, options);
  const body = new RepeatedBody(lines.pack(), KEPT_BYTES);
  const answer = await lines
    .orFailure(
      connection.call<WireImportResult>({
        method: "POST",
        path: "/v1/ingest/sessions",
        slow: true,
        body,
        headers: {
          "content-type": "application/x-ndjson",
          "content-encoding": "gzip",
          ...keyHeader(options.idempotencyKey),
        },
      }),
    )
    .finally(() => body.discard());
  addProblems(imported.problems, answer);
  const { stored, session_id: id } = answer;
  if (options.describe !== undefined && stored !== null && id !== null) {
    const told = stored.told_title ?? undefined;
    const patch = options.describe(fromWireDescribed(stored), told, answer.skipped);
    if (Object.keys(patch).length > 0) await update(id, patch);
  }
  return { ...fromWireImportResult(answer), problems: imported.problems.total };
}

class ImportLines {
  readonly #imported: ImportedSession;
  readonly #options: ImportOptions;
  /** The reader's own error, which explains more than the aborted request. */
  #failure: { readonly error: unknown } | undefined;

  constructor(imported: ImportedSession, options: ImportOptions) {
    this.#imported = imported;
    this.#options = options;
  }

  /** Pulls from the reader when there is room (back-pressure). */
  pack(): ReadableStream<Uint8Array> {
    const pieces = this.#pieces();
    const encoder = new TextEncoder();
    const text = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const next = await pieces.next();
        if (next.done) controller.close();
        else controller.enqueue(encoder.encode(next.value));
      },
      async cancel() {
        await pieces.return(undefined);
      },
    });
    return text.pipeThrough(new CompressionStream("gzip"));
  }

  async orFailure<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      throw this.#failure === undefined ? error : this.#failure.error;
    }
  }

  async *#pieces(): AsyncGenerator<string, void> {
    let piece = "";
    for await (const line of this.#lines()) {
      piece += `${JSON.stringify(line)}\n`;
      if (piece.length < PIECE) continue;
      yield piece;
      piece = "";
    }
    yield piece;
  }

  async *#lines(): AsyncGenerator<WireImportLine, void> {
    const { entries, leaf, problems: _, route: __, ...head } = this.#imported;
    yield { session: toWireSessionHead(head), options: toWireImportOptions(this.#options) };
    let read = 0;
    try {
      for await (const entry of entries) {
        yield { entry: toWireImportedEntry(entry) };
        if (++read % 100 === 0) this.#options.onProgress?.(read);
      }
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
    const end = leaf?.();
    yield { end: end === undefined ? {} : { leaf: end } };
  }
}

function addProblems(log: ProblemLog, { problem_counts, problems }: WireImportResult): void {
  const told = new Map<string, number>();
  for (const { code, message } of problems) {
    log.add(code as ImportProblemCode, message);
    told.set(code, (told.get(code) ?? 0) + 1);
  }
  for (const [code, count] of Object.entries(problem_counts)) {
    for (let i = told.get(code) ?? 0; i < count; i++) {
      log.add(code as ImportProblemCode, "met by the server");
    }
  }
}
