/**
 * Compresses answers with gzip, for callers that accept it, where it pays. On loopback it does not:
 * compressing takes longer than copying.
 */

import { Readable } from "node:stream";
import { createGzip } from "node:zlib";

/** Without event streams: their events must not be buffered. */
const PACKED = /^(application\/(problem\+)?json|application\/octet-stream|text\/(?!event-stream))/;

export function pack(request: Request, response: Response): Response {
  const accepts = request.headers.get("accept-encoding");
  if (accepts === null || !/\bgzip\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(accepts)) return response;
  const { headers, status } = response;
  if (headers.has("content-encoding") || !PACKED.test(headers.get("content-type") ?? "")) {
    return response;
  }
  if (response.body === null) return response;
  const packed = new Headers(headers);
  packed.set("content-encoding", "gzip");
  packed.append("vary", "accept-encoding");
  const plain = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const gzip = createGzip();
  plain.on("error", (error) => gzip.destroy(error));
  const body = Readable.toWeb(plain.pipe(gzip)) as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers: packed });
}
