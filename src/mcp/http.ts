/**
 * MCP over HTTP: from a web-standard request and its access to a response.
 *
 * Each request has its own server, so any node can answer any request. Only notification streams
 * last; they read the feed, which all nodes share. The caller checks Host, Origin and tokens.
 */

import {
  createMcpHandler,
  type McpRequestContext,
  type McpHttpHandler as SdkHandler,
} from "@modelcontextprotocol/server";
import type { WireSessionStatus } from "../api/gateway.ts";
import type { JsonBounds } from "../api/read-json.ts";
import { readBoundedJson } from "../api/read-json.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { Access } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import {
  MAX_JSON_DEPTH,
  MAX_MCP_REQUEST_BYTES,
  MAX_QUERY_VALUES,
  MAX_REQUEST_BYTES,
  MAX_REQUEST_VALUES,
} from "../model/limits.ts";
import { createMcpServer } from "./server.ts";
import { isListen, SessionFeed } from "./session-feed.ts";

/** The header with the caller's session: our id, or the agent's. */
const SESSION_HEADER = "backscroll-session";
/** The header of a coding agent that wants its few tools: `agent`. Programs get all of them. */
const TOOLS_HEADER = "backscroll-tools";

interface McpHttpOptions {
  readonly tenantFor: (tenant: string) => TenantApi;
  readonly version: string;
  /** `standing` of a host, by tenant. */
  readonly standingFor?: (tenant: string, sessionId: string) => Promise<WireSessionStatus>;
  readonly onError?: (error: unknown) => void;
}

interface McpHttpHandler {
  /**
   * Answers a request with `access`. `cutOff` ends the connection of a stalled listener. `readBody`
   * gives the request's JSON, for a host that budgets memory; by default it is read here, within
   * the same bounds.
   */
  readonly fetch: (
    request: Request,
    access: Access,
    cutOff?: () => void,
    readBody?: ReadBody,
  ) => Promise<Response>;
  /** Ends open streams; later requests are refused. */
  readonly close: () => Promise<void>;
}

/** Throws `too_large` over the bounds, `invalid_input` for invalid JSON. */
type ReadBody = (bounds: JsonBounds) => Promise<unknown>;

/** The cache size of idle tenant handlers. */
const KEPT_TENANTS = 1_000;

interface Serving {
  readonly handler: SdkHandler;
  readonly feed: SessionFeed;
}

export function mcpHttpHandler(options: McpHttpOptions): McpHttpHandler {
  const { onError, standingFor } = options;
  /** By tenant: listeners get their own tenant's changes only. */
  const serving = new Map<string, Serving>();

  const servingOf = (name: string): Serving => {
    const known = serving.get(name);
    if (known !== undefined) return known;
    if (serving.size >= KEPT_TENANTS) forgetIdle(serving);
    const tenant = options.tenantFor(name);
    const feed = new SessionFeed(tenant, onError);
    const handler = createMcpHandler(
      (context) => {
        const { version } = options;
        const session = context.requestInfo?.headers.get(SESSION_HEADER);
        const host = {
          tenant,
          access: accessOf(context),
          version,
          ...(session ? { sessions: [session] } : {}),
          ...(context.requestInfo?.headers.get(TOOLS_HEADER) === "agent"
            ? { tools: "agent" as const }
            : {}),
          ...(standingFor === undefined ? {} : { standing: (id: string) => standingFor(name, id) }),
        };
        const { era } = context;
        return createMcpServer(onError === undefined ? host : { ...host, onError }, {
          era,
          // A 2025 client has no notification stream here.
          subscriptions: era === "modern",
        });
      },
      { bus: feed, maxRequestBodySize: MAX_MCP_REQUEST_BYTES },
    );
    serving.set(name, { handler, feed });
    return { handler, feed };
  };

  let closed = false;
  return {
    fetch: async (request, access, cutOff = () => undefined, readBody = readHere(request)) => {
      if (closed) return new Response(null, { status: 503 });
      let body: unknown;
      try {
        if (request.method === "POST") body = await readBody(boundsOf(access));
      } catch (error) {
        return refuseBody(error);
      }
      const authInfo = {
        token: "",
        clientId: access.tokenId ?? "",
        scopes: [access.scope],
        extra: { access },
      };
      const { handler, feed } = servingOf(access.tenant);
      const answer = () =>
        handler.fetch(request, { authInfo, ...(body === undefined ? {} : { parsedBody: body }) });
      const response = await (isListen(body) ? whileFollowed(feed, answer) : answer());
      const { body: events, headers } = response;
      const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      if (events === null || !isStream) return response;
      return new Response(boundedStream(events, STREAM_BOUNDS, cutOff), response);
    },
    close: async () => {
      closed = true;
      await Promise.all([...serving.values()].map(({ handler }) => handler.close()));
      serving.clear();
    },
  };
}

/**
 * Runs `work` while the feed is followed, so that its subscriptions miss no change after its
 * answer.
 */
async function whileFollowed<T>(feed: SessionFeed, work: () => Promise<T>): Promise<T> {
  const stop = feed.subscribe(() => undefined);
  try {
    await feed.started();
    return await work();
  } finally {
    stop();
  }
}

/** The body limit of read-only callers. */
function boundsOf({ scope }: Access): JsonBounds {
  return scope === "read"
    ? { bytes: MAX_REQUEST_BYTES, values: MAX_QUERY_VALUES, depth: MAX_JSON_DEPTH }
    : { bytes: MAX_MCP_REQUEST_BYTES, values: MAX_REQUEST_VALUES, depth: MAX_JSON_DEPTH };
}

function readHere({ body }: Request): ReadBody {
  const chunks = (body ?? []) as AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  return (bounds) => readBoundedJson(chunks, bounds, async (work) => work());
}

/** The SDK's answer to an unreadable body. */
function refuseBody(error: unknown): Response {
  const isTooLarge = BackscrollError.is(error, "too_large");
  if (!isTooLarge && !BackscrollError.is(error, "invalid_input")) throw error;
  const { code, message, details } = error;
  const failure = { code: isTooLarge ? -32600 : -32700, message, data: { code, details } };
  return Response.json(
    { jsonrpc: "2.0", id: null, error: failure },
    { status: isTooLarge ? 413 : 400 },
  );
}

/** Marks requests from `fetch`. */
function accessOf({ authInfo }: McpRequestContext): Access {
  const access = authInfo?.extra?.["access"];
  if (access === undefined) throw new Error("a request came in without its access");
  return access as Access;
}

function forgetIdle(serving: Map<string, Serving>): void {
  for (const [name, { feed }] of serving) {
    if (!feed.idle) continue;
    serving.delete(name);
    return;
  }
}

export interface StreamBounds {
  /** Above this buffer a reader must make progress. */
  readonly unreadBytes: number;
  /** How long it may then stall. */
  readonly patienceMs: number;
  /** The hard limit of the buffer. */
  readonly mostBytes: number;
}

export const STREAM_BOUNDS: StreamBounds = {
  // About a thousand notifications.
  unreadBytes: 256 * 1024,
  patienceMs: 10_000,
  // Sixteen of the largest answers, which bounds a thousand listeners too.
  mostBytes: 2 * 1024 * 1024,
};

/** Chunk size: a large answer in chunks shows progress of its reader. */
const PIECE_BYTES = 16 * 1024;

/**
 * A bounded event stream (back-pressure).
 *
 * The SDK writes notifications without back-pressure; here they are buffered until the reader asks.
 * A stalled reader with a large buffer is cut off, a slow one only at the hard limit. No
 * information is lost: a notification only announces a change, and a new listener reads the current
 * state.
 *
 * `onDrop` is called when the reader is cut off and its buffer is dropped.
 */
export function boundedStream(
  body: ReadableStream<Uint8Array>,
  bounds: StreamBounds,
  onDrop: () => void,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const held = new HeldPieces();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void passOn(source, held, bounds).then(
          (isDropped) => {
            if (!isDropped) return held.end();
            controller.error(new Error("the reader takes nothing"));
            onDrop();
          },
          // The source has failed.
          (error: unknown) => controller.error(error),
        );
      },
      async pull(controller) {
        const piece = await held.take();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Forwards pieces until the source ends. True: the reader must be dropped. */
async function passOn(
  source: ReadableStreamDefaultReader<Uint8Array>,
  held: HeldPieces,
  { unreadBytes, patienceMs, mostBytes }: StreamBounds,
): Promise<boolean> {
  for (;;) {
    const { done, value } = await source.read();
    if (done) return false;
    // A single piece may exceed the bounds; a second unread one may not.
    const isIdle = held.bytes >= unreadBytes && held.idleMs >= patienceMs;
    if (isIdle || held.bytes >= mostBytes) break;
    held.add(value);
  }
  held.clear();
  await source.cancel().catch(() => undefined);
  return true;
}

/** The buffer. */
class HeldPieces {
  bytes = 0;
  #pieces: Uint8Array[] = [];
  #hasEnded = false;
  #takenAt = performance.now();
  #wake: () => void = () => undefined;

  /** Time since the last read. */
  get idleMs(): number {
    return performance.now() - this.#takenAt;
  }

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      this.#pieces.push(piece.subarray(at, at + PIECE_BYTES));
    }
    this.bytes += piece.length;
    this.#wake();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  clear(): void {
    this.#pieces = [];
    this.bytes = 0;
  }

  /** Waits for a piece; undefined at the end. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#pieces.shift();
    this.bytes -= piece?.length ?? 0;
    this.#takenAt = performance.now();
    return piece;
  }
}
