/**
 * Reads request bodies: streaming, decompressed, bounded.
 *
 * The bounds apply after decompression, as a few bytes may expand to gigabytes. Decompression stops
 * at a bound, and a body that arrives too slowly is cut off.
 */

import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { type JsonBounds, type RunWork, readBoundedJson } from "../api/read-json.ts";
import { BackscrollError } from "../model/errors.ts";
import { MAX_IMPORT_BYTES } from "../model/limits.ts";

/** The server's allowance for reading a body. */
export interface BodyAllowance {
  /** Records how many bytes are in memory. Throws if they exceed the budget. */
  readonly hold: (bytes: number) => void;
  /** Runs work that blocks the event loop. */
  readonly run: RunWork;
  /** Charges milliseconds of work done outside of `run`. */
  readonly charge: (ms: number) => void;
  /** How long it may keep the server waiting, at less than 500 bytes a second. */
  readonly patienceMs?: number;
}

/** Smaller uncompressed bodies are read at once: a stream costs more than they do. */
const SMALL_BYTES = 64 * 1024;

/** Memory charged for an import, unless the file is smaller. */
const HELD_IMPORT_BYTES = 16 * 1024 * 1024;
/** The longest slice of an import before it yields. */
const TURN_MS = 8;
/**
 * The event loop's cost of a transcript: bytes to decode and split, marks for values to parse and
 * map. Real transcripts come to 48 ms a megabyte with both, lists of small objects with distinct
 * names to 200.
 */
const IMPORT_BYTES_PER_MS = 65_536;
const IMPORT_MARKS_PER_MS = 1_000;
/** Bytes that begin or separate JSON values. Those inside strings count too: they are few. */
const IS_MARK = new Uint8Array(256);
for (const mark of ",:[{") IS_MARK[mark.charCodeAt(0)] = 1;
/** The chunk size of a socket. */
const UNPACKED_CHUNK_BYTES = 64 * 1024;

/** The JSON of a request; an empty body is an empty object. */
export async function readJson(
  request: Request,
  bounds: JsonBounds,
  allowance: BodyAllowance,
): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  const value = await readValue(request, bounds, allowance);
  if (value === undefined) return {};
  // A form that a foreign page may send without a preflight is never taken for JSON.
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw invalid("content-type", "the body must be JSON: send content-type: application/json");
  }
  return value;
}

async function readValue(
  request: Request,
  bounds: JsonBounds,
  { hold, run, patienceMs = BODY_PATIENCE_MS }: BodyAllowance,
): Promise<unknown> {
  if (!isLargeBody(request.headers)) {
    hold(Number(request.headers.get("content-length")));
    const bytes = await withinPatience(readAtOnce(request), patienceMs);
    return readBoundedJson([bytes], bounds, async (work) => work());
  }
  let held = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of readUnpacked(request, bounds.bytes, patienceMs)) {
      held += chunk.length;
      hold(held);
      yield chunk;
    }
  }
  return readBoundedJson(chunks(), bounds, run);
}

/** Whether a body may be large: compressed, of a large length, or of unknown length. */
export function isLargeBody(headers: Headers): boolean {
  if (headers.has("content-encoding") || headers.has("transfer-encoding")) return true;
  return Number(headers.get("content-length") ?? 0) > SMALL_BYTES;
}

async function readAtOnce(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch {
    throw invalid("body", "the body ended too early");
  }
}

/**
 * The decompressed bytes of an imported file, in chunks with yields between them. Its tenant is
 * charged for each chunk, and waits for its share of the time before the next. Throws
 * `rate_limited` if that would take too long.
 */
export async function* readBytes(
  request: Request,
  { hold, run, charge, patienceMs = BODY_PATIENCE_MS }: BodyAllowance,
  limit: number = MAX_IMPORT_BYTES,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  let turnAt = performance.now();
  for await (const chunk of readUnpacked(request, limit, patienceMs)) {
    length += chunk.length;
    if (length > limit) throw tooLarge(length, limit);
    hold(Math.min(length, HELD_IMPORT_BYTES));
    charge(importMs(chunk));
    yield chunk;
    await run(() => undefined);
    if (performance.now() - turnAt < TURN_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    turnAt = performance.now();
  }
}

function importMs(chunk: Uint8Array): number {
  let marks = 0;
  for (let i = 0; i < chunk.length; i++) marks += IS_MARK[chunk[i] as number] as number;
  return chunk.length / IMPORT_BYTES_PER_MS + marks / IMPORT_MARKS_PER_MS;
}

/** Back-pressure: decompression follows the reader. */
async function* readUnpacked(
  request: Request,
  limit: number,
  patienceMs: number,
): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(declared, limit);
  try {
    yield* unpack(request, patienceMs);
  } catch (error) {
    if (BackscrollError.is(error)) throw error;
    throw invalid("body", "the body is truncated, or its content-encoding is wrong");
  }
}

function unpack(request: Request, patienceMs: number): AsyncIterable<Uint8Array> {
  const encoding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  const body = pacedBody(request.body as ReadableStream<Uint8Array>, patienceMs);
  if (encoding === "identity") return body;
  if (encoding !== "gzip") {
    throw invalid("content-encoding", "content-encoding must be gzip or identity");
  }
  const gunzip = createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES });
  // Errors reject the reader; a reader that stops ends the source.
  return pipeline(Readable.from(body, { objectMode: false }), gunzip, () => undefined);
}

function tooLarge(actual: number, limit: number): BackscrollError {
  return new BackscrollError(
    "too_large",
    `the body has more than ${limit} bytes; send less at once`,
    { details: { field: "body", unit: "bytes", limit, actual } },
  );
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/** Half of Node's limit for a request's headers, because a body has a minimum rate too. */
const BODY_PATIENCE_MS = 30_000;
const BYTES_PER_MS = 0.5;

/**
 * Enforces a minimum rate of arrival: a sender that trickles bytes would otherwise hold its
 * connection and memory indefinitely.
 *
 * A leaky bucket of waiting time, after Apache's `mod_reqtimeout`: it holds `patienceMs`, waiting
 * for bytes drains it, and every 500 bytes that arrive put a second back. Only time spent waiting
 * for bytes counts, so a slow server cuts no sender off.
 */
async function* pacedBody(
  body: ReadableStream<Uint8Array>,
  patienceMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let left = patienceMs;
  let isOver = false;
  try {
    for (;;) {
      const asked = performance.now();
      const { done, value } = await withinPatience(reader.read(), left);
      if (done) {
        isOver = true;
        return;
      }
      const waited = performance.now() - asked;
      left = Math.min(patienceMs, left - waited + value.length / BYTES_PER_MS);
      yield value;
    }
  } finally {
    // Closing the connection discards the rest.
    if (!isOver) void reader.cancel().catch(() => undefined);
  }
}

/** Throws `request_timeout` if `reading` is not done by then. */
async function withinPatience<Result>(
  reading: Promise<Result>,
  patienceMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(patienceMs)), Math.max(1, patienceMs));
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    // The abandoned read may still reject.
    reading.catch(() => undefined);
  }
}

function tooSlow(patienceMs: number): BackscrollError {
  return new BackscrollError(
    "request_timeout",
    `the body arrived too slowly: nothing within ${Math.round(patienceMs)} ms; send it again`,
    { details: { field: "body" } },
  );
}
