/**
 * Ingestion from another machine: sessions from transcript readers, read offsets, and original
 * bytes of ingested files.
 */

import { z } from "zod";
import {
  fromWireImportedEntry,
  fromWireSessionHead,
  toWireDescribed,
  type WireImportResult,
} from "../../api/imported-session.ts";
import { fromWireOriginalUpdate, type WireOriginalUpdate } from "../../api/original.ts";
import { fromWireFigures, toWireSession } from "../../api/session.ts";
import { fromWire, toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { Described } from "../../engine/import/import-subject.ts";
import type { ListOriginalsInput } from "../../engine/import/ingested-files.ts";
import { hasMoreValues } from "../../ingest/json-scan.ts";
import { type Line, splitLines } from "../../ingest/lines.ts";
import { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { requireAnyActor } from "../../model/access.ts";
import { INGESTED_FILE, ORIGINAL } from "../../model/answers/store.ts";
import { toBase64 } from "../../model/base64.ts";
import type { Block } from "../../model/block.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_IMPORT_LINE_BYTES, MAX_REQUEST_VALUES } from "../../model/limits.ts";
import { requireAllowed } from "../../policy.ts";
import { normalizeBlock } from "../../transcript/normalize.ts";
import { actorOrError, claimed } from "../actor.ts";
import { readBytes } from "../body.ts";
import { check } from "../check.ts";
import { tenantRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { count, counts, jsonObject, key, path, sessionParams, time } from "../schemas/common.ts";
import {
  importHead,
  importLine,
  importResult,
  ingestedFile,
  originalPart,
  originals,
  originalUpdate,
} from "../schemas/import.ts";
import { session } from "../schemas/session.ts";

const ORIGINAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: "put",
    path: "/v1/ingest/originals",
    operation: "putOriginal",
    tag: "transfer",
    summary: "Keep the bytes of an ingested file.",
    scope: "write",
    limits: APPEND_LIMITS,
    body: originalUpdate,
    answer: {
      status: 200,
      description: "Whether they are kept: not if content is erased.",
      schema: z.object({ kept: z.boolean() }).meta({ id: "OriginalKept" }),
    },
    handle: async ({ tenant }, { body }) => {
      const update = body as WireOriginalUpdate;
      return {
        kept: await tenant.originals.put(update.workstation, fromWireOriginalUpdate(update)),
      };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/ingest/originals/find",
    operation: "listOriginals",
    tag: "transfer",
    summary: "Ingested files whose bytes are kept.",
    scope: "read",
    body: z.strictObject({
      workstation: key.optional(),
      path: path.optional(),
      session_id: key.optional(),
      after: z.strictObject({ workstation: key, path }).optional(),
      limit: count.optional(),
    }),
    answer: { status: 200, description: "By workstation and path.", schema: originals },
    handle: async ({ tenant }, { body }) => ({
      originals: (await tenant.originals.list(fromWireFields(body) as ListOriginalsInput)).map(
        (each) => toWire(ORIGINAL, each),
      ),
    }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/ingest/originals/read",
    operation: "readOriginalPart",
    tag: "transfer",
    summary: "A part of the bytes of an ingested file.",
    scope: "read",
    body: z.strictObject({ workstation: key, path, start: count }),
    answer: { status: 200, description: "Null if there is no such part.", schema: originalPart },
    handle: async ({ tenant }, { body: { workstation, path: file, start } }) => {
      requireAllowed("rawExports");
      const bytes = await tenant.originals.readPart(workstation, file, start);
      return { bytes: bytes === undefined ? null : toBase64(bytes) };
    },
  }),
];

const MAX_FILES = 1_000;

export const INGEST_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/ingest/sessions",
    operation: "importSession",
    tag: "transfer",
    scope: "write",
    summary: "Store a session parsed elsewhere; needs a token that may act as any actor.",
    takesKey: true,
    bytes: "JSON lines: `session` and `options`, then one `entry` each, then `end`.",
    answer: { status: 200, description: "Counts of the import.", schema: importResult },
    handle: (caller) => importLines(caller),
  }),
  defineRoute({
    method: "patch",
    path: "/v1/ingest/sessions/{session_id}",
    operation: "describeSession",
    tag: "transfer",
    scope: "write",
    summary: "Set the figures of an ingested session.",
    params: sessionParams,
    body: z.strictObject({
      title: z.string().optional(),
      metadata: jsonObject.optional(),
      figures: z.strictObject({
        exchange_count: count,
        tool_counts: counts,
        file_mtime: time.nullable(),
        first_msg_at: time.nullable(),
        last_msg_at: time.nullable(),
        cost_usd: z.number().nullable(),
      }),
    }),
    answer: { status: 200, description: "The changed session.", schema: session },
    handle: async ({ tenant }, { params, body: { figures, ...rest } }) => {
      const handle = tenant.session(params.session_id);
      const patch = { ...fromWireFields(rest), ...fromWireFigures(figures) };
      return toWireSession(await handle.update(patch));
    },
  }),
  tenantRoute(
    "findIngestedFiles",
    { workstation: key, paths: z.array(path).max(MAX_FILES) },
    { limits: APPEND_LIMITS },
  ),
  defineRoute({
    method: "put",
    path: "/v1/ingest/files",
    operation: "putIngestedFiles",
    tag: "transfer",
    summary: "Store read offsets of files.",
    scope: "write",
    limits: APPEND_LIMITS,
    body: z.strictObject({ workstation: key, files: z.array(ingestedFile).max(MAX_FILES) }),
    answer: { status: 204, description: "No content." },
    handle: ({ tenant }, { body: { workstation, files } }) =>
      tenant.putIngestedFiles(
        workstation,
        files.map((each) => fromWire(INGESTED_FILE, each)),
      ),
  }),
  ...ORIGINAL_ROUTES,
];

async function importLines({
  tenant,
  request,
  access,
  allowance,
  idempotency,
}: Caller): Promise<WireImportResult> {
  requireAnyActor(access);
  const lines = splitLines(readBytes(request, allowance), {
    maxBytes: MAX_IMPORT_LINE_BYTES,
  })[Symbol.asyncIterator]();
  try {
    const first = await lines.next();
    if (first.done) throw invalid("line 1", "the body is empty; it begins with a session");
    const head = check(importHead, parseLine(first.value), "body");
    const { owner, ...options } = head.options;
    const problems = new ProblemLog();
    const rest = new ImportedLines(lines);
    let stored: WireImportResult["stored"] = null;
    const describe = (before: Described, title: string | undefined) => {
      stored = toWireDescribed(before, title);
      return {};
    };
    const result = await tenant.importSession(
      {
        ...fromWireSessionHead(head.session),
        entries: rest.entries(),
        leaf: () => rest.leaf,
        problems,
      },
      {
        ...fromWireFields(options),
        ...defined({ provenance: claimed(access, options.provenance) }),
        ...(owner === undefined && access.actor === null
          ? {}
          : { owner: actorOrError(access, owner, "owner") }),
        describe,
        ...idempotency,
      },
    );
    const { sessionId, created, entries, skipped, last, forgotten, key: known } = result;
    return {
      session_id: sessionId,
      created,
      entries,
      skipped,
      last,
      forgotten,
      key: known,
      late: result.late ?? null,
      ...(result.unsure ? { unsure: true } : {}),
      problem_counts: Object.fromEntries(problems.counts),
      problems: problems.first.map(({ code, message }) => ({ code, message })),
      stored,
    };
  } finally {
    await lines.return(undefined);
  }
}

class ImportedLines {
  leaf: string | null | undefined;
  readonly #lines: AsyncIterator<Line>;

  constructor(lines: AsyncIterator<Line>) {
    this.#lines = lines;
  }

  async *entries(): AsyncGenerator<ImportedEntry> {
    for (let next = await this.#lines.next(); !next.done; next = await this.#lines.next()) {
      const line = check(importLine, parseLine(next.value), "body");
      if ("end" in line) {
        this.leaf = line.end.leaf;
        return;
      }
      const entry = fromWireImportedEntry(line.entry);
      const blocks = entry.blocks.map((block, i) =>
        inOrderOf(block, normalizeBlock(block, `entry.blocks[${i}]`)),
      );
      yield { ...entry, blocks };
    }
    throw invalid("end", "the body is truncated: the line `end` is missing; send it again");
  }
}

/**
 * Stored bytes are hashed, so a valid block keeps the order of its fields: local and remote
 * ingestion give the same hash.
 */
function inOrderOf(given: Block, block: Block): Block {
  const names = Object.keys(block);
  const known = Object.keys(given).filter((name) => names.includes(name));
  const fields = [...new Set([...known, ...names])].map((name) => {
    const value = block[name as keyof Block] as unknown;
    const before = given[name as keyof Block] as unknown;
    const isList = name === "output" && Array.isArray(value) && Array.isArray(before);
    return [name, isList ? value.map((inner, i) => inOrderOf(before[i] as Block, inner)) : value];
  });
  return Object.fromEntries(fields) as Block;
}

function parseLine({ number, text, damage }: Line): unknown {
  if (damage !== undefined) throw invalid(`line ${number}`, `line ${number} is ${damage}`);
  if (hasMoreValues(text, MAX_REQUEST_VALUES)) {
    throw new BackscrollError(
      "too_large",
      `line ${number} holds more than ${MAX_REQUEST_VALUES} JSON values and names; leave the entry out, or cut it`,
      { details: { field: `line ${number}`, unit: "values", limit: MAX_REQUEST_VALUES } },
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`line ${number}`, `line ${number} is not JSON`);
  }
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
