/** Import from and export to other agents' formats. */

import { z } from "zod";
import { exportSession, FORMATS, findFormat } from "../../export/formats.ts";
import { limitValues } from "../../ingest/json-scan.ts";
import { readTranscript } from "../../ingest/read-transcript.ts";
import { requireAnyActor, requireScope } from "../../model/access.ts";
import { defined } from "../../model/defined.ts";
import { MAX_IMPORT_LINE_BYTES, MAX_REQUEST_VALUES } from "../../model/limits.ts";
import { toExportInput } from "../../transfer/export-session.ts";
import { actorOrError } from "../actor.ts";
import { readBytes } from "../body.ts";
import { defineRoute, type Route } from "../route.ts";
import { flagQuery, key, path, sessionParams } from "../schemas/common.ts";
import { importReport } from "../schemas/store.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  markdown: "text/markdown; charset=utf-8",
};

/** The most event-loop time that recognising a format takes; the bytes are charged as they arrive. */
const RECOGNISE_MS = 5;

export const TRANSFER_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/import",
    operation: "importTranscript",
    tag: "transfer",
    summary: "Store a transcript of another agent; needs a token that may act as any actor.",
    scope: "write",
    bytes: "The file as it is: JSON, JSON lines, Markdown.",
    query: z.strictObject({
      source: key.optional().meta({ description: "The format. Default: detected by content." }),
      path: path.optional().meta({ description: "The path of the original file." }),
      owner: key.optional(),
      dry_run: flagQuery.optional(),
    }),
    answer: {
      status: 200,
      description: "Stored and skipped entries.",
      schema: importReport,
    },
    handle: async (caller, { query }) => {
      requireAnyActor(caller.access);
      const { source, path: file, owner, dry_run } = query;
      if (source === undefined) caller.allowance.charge(RECOGNISE_MS);
      const transcript = await readTranscript({
        bytes: readBytes(caller.request, caller.allowance),
        maxLineBytes: MAX_IMPORT_LINE_BYTES,
        prepare: (lines) => limitValues(lines, MAX_REQUEST_VALUES),
        ...defined({ source, path: file }),
      });
      const sessions = [];
      for await (const imported of transcript.sessions) {
        const result = await caller.tenant.importSession(imported, {
          ...(file === undefined ? {} : { file }),
          ...(owner === undefined && caller.access.actor === null
            ? {}
            : { owner: actorOrError(caller.access, owner, "owner") }),
          dryRun: dry_run ?? false,
        });
        const { sessionId, created, entries, skipped, problems, last, forgotten } = result;
        sessions.push({
          session_id: sessionId,
          created,
          entries,
          skipped,
          problems,
          last,
          forgotten,
        });
      }
      const { problems } = transcript;
      return {
        source: transcript.source,
        sessions,
        problem_counts: Object.fromEntries(problems.counts),
        problems: problems.first.map(({ line, code, message }) => ({
          line: line ?? null,
          code,
          message,
        })),
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/export",
    operation: "exportSession",
    tag: "transfer",
    summary: "A session in another format.",
    scope: "read",
    params: sessionParams,
    query: z.strictObject({
      format: z.enum(FORMATS.map(({ name }) => name) as [string, ...string[]]),
      leaf: key.optional(),
      full: flagQuery.optional(),
      raw: flagQuery.optional().meta({
        description: "Leaves secrets unmasked; needs the scope admin.",
      }),
    }),
    answer: {
      status: 200,
      description: "The file.",
      types: ["application/octet-stream", ...Object.values(CONTENT_TYPES)],
    },
    handle: async ({ tenant, access }, { params, query }) => {
      const { format: name, leaf, full, raw } = query;
      if (raw) requireScope(access, "admin");
      const format = findFormat(name);
      const handle = tenant.session(params.session_id);
      const input = await toExportInput(handle, format, {
        ...defined({ leaf, full, raw }),
      });
      const { chunks } = exportSession(format, input);
      return new Response(toByteStream(chunks), {
        headers: {
          "content-type": CONTENT_TYPES[name] ?? "application/octet-stream",
          // A page of untrusted text: forbid scripts.
          "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          "content-disposition": `attachment; filename="session.${name}"`,
        },
      });
    },
  }),
];

/** Pulls the next chunk when the reader has room (back-pressure). */
export function toByteStream(
  chunks: AsyncIterable<string | Uint8Array>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) return controller.close();
      const { value } = next;
      controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
