/**
 * What a request carries: read as it comes, unpacked if it is packed, and never more than is allowed.
 *
 * The limit holds for what is unpacked: a few packed bytes may stand for gigabytes.
 */

import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BackscrollError } from "../model/errors.ts";
import { MAX_IMPORT_BYTES, MAX_REQUEST_BYTES } from "../model/limits.ts";

/** The JSON of a request; an empty body is an empty object. */
export async function readJson(
  request: Request,
  limit: number = MAX_REQUEST_BYTES,
): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  const bytes = await readAll(request, limit);
  if (bytes.byteLength === 0) return {};
  // A form that a foreign page may send without asking first is never taken for JSON.
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw invalid("content-type", "the body must be JSON: send content-type: application/json");
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("body", "the body is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid("body", `the body is no JSON: ${shorten((error as Error).message)}`);
  }
}

/** At once where the length is known and allowed: a stream costs more than what most requests ask for. */
async function readAll(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  const isPlain = request.headers.get("content-encoding") === null;
  if (isPlain && length !== null && Number(length) <= limit) {
    try {
      return new Uint8Array(await request.arrayBuffer());
    } catch {
      throw invalid("body", "the body ended too early");
    }
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of readBytes(request, limit)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes of a request, unpacked. */
export async function* readBytes(
  request: Request,
  limit: number = MAX_IMPORT_BYTES,
): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(declared, limit);
  let length = 0;
  try {
    for await (const chunk of unpack(request)) {
      length += chunk.length;
      if (length > limit) throw tooLarge(length, limit);
      yield chunk;
    }
  } catch (error) {
    if (BackscrollError.is(error)) throw error;
    throw invalid("body", "the body ended too early, or is not packed as it says");
  }
}

function unpack(request: Request): AsyncIterable<Uint8Array> {
  const encoding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  const body = request.body as ReadableStream<Uint8Array>;
  if (encoding === "identity") return body as unknown as AsyncIterable<Uint8Array>;
  if (encoding !== "gzip") {
    throw invalid("content-encoding", "content-encoding must be gzip or identity");
  }
  const packed = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  const gunzip = createGunzip();
  packed.on("error", (error) => gunzip.destroy(error));
  return packed.pipe(gunzip);
}

function tooLarge(actual: number, limit: number): BackscrollError {
  return new BackscrollError(
    "too_large",
    `the body has more than ${limit} bytes; send less at once`,
    { details: { field: "body", limit, actual } },
  );
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

function shorten(message: string): string {
  return (
    message
      .split(/[,"'`(]/, 1)[0]
      ?.trim()
      .slice(0, 80) ?? ""
  );
}
