/** MCP over a pair of streams, such as standard input and output: one caller. */

import { type Readable, Transform, type Writable } from "node:stream";
import {
  deserializeMessage,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type Server,
  type Transport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { isPlainObject } from "../model/json.ts";
import { noSuchResource, toProtocolFailure } from "./failure.ts";
import type { McpHost } from "./host.ts";
import { parseSessionUri, urisOf } from "./resources.ts";
import { createMcpServer } from "./server.ts";
import { isListen, SessionFeed } from "./session-feed.ts";

interface StdioOptions {
  readonly signal?: AbortSignal;
  /** Called with each incoming message, so that background work can yield. */
  readonly onMessage?: () => void;
  /** In place of standard input and output. */
  readonly input?: Readable;
  readonly output?: Writable;
}

/** Resolves when the caller closes its end, or the signal is aborted. */
export async function serveMcpStdio(host: McpHost, options: StdioOptions = {}): Promise<void> {
  const feed = new SessionFeed(host.tenant, host.onError);
  let current: Server | undefined;
  let stop: (() => void) | undefined;
  const { input = process.stdin, output = process.stdout } = options;
  const transport = new ObservedTransport({ input, output }, (message) => {
    options.onMessage?.();
    // The SDK handles 2026 subscriptions itself and forwards only subscribed notifications, so all
    // are passed to it from the first such request on.
    if (stop !== undefined || !isListen(message)) return undefined;
    stop = feed.subscribe((event) => {
      const told =
        event.kind === "resource_updated"
          ? current?.sendResourceUpdated({ uri: event.uri })
          : current?.sendResourceListChanged();
      told?.catch((error) => host.onError?.(error));
    });
    return feed.started();
  });
  const handle = serveStdio(
    ({ era }) => {
      current = createMcpServer(host, { era, subscriptions: true });
      if (era === "legacy") serveSubscriptions(current, host, feed);
      return current;
    },
    { transport, ...(host.onError === undefined ? {} : { onerror: host.onError }) },
  );
  const abort = () => void handle.close();
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted) abort();
  await transport.closed;
  options.signal?.removeEventListener("abort", abort);
  stop?.();
}

/**
 * Standard input and output with an observer. A promise of the observer delays the message and
 * those behind it.
 */
class ObservedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly closed: Promise<void>;
  readonly #input: PatientInput;
  readonly #inner: StdioServerTransport;
  #delay: Promise<void> | undefined;

  constructor(
    streams: { readonly input: Readable; readonly output: Writable },
    observe: (message: JSONRPCMessage) => Promise<void> | undefined,
  ) {
    this.#input = new PatientInput(streams.input, (id) => {
      const error = { code: -32600, message: "the line is not a valid JSON-RPC request" };
      this.#inner.send({ jsonrpc: "2.0", id, error }).catch((cause) => this.onerror?.(cause));
    });
    this.#inner = new StdioServerTransport(this.#input.stream, streams.output);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      const delay = observe(message);
      this.#input.received(message);
      const deliver = () => this.onmessage?.(message, extra);
      if (this.#delay === undefined && delay === undefined) return deliver();
      const delivered = Promise.all([this.#delay, delay]).then(() => {
        if (this.#delay === delivered) this.#delay = undefined;
        try {
          deliver();
        } catch (error) {
          this.onerror?.(error as Error);
        }
      });
      this.#delay = delivered;
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.#input.close();
      this.onclose?.();
      resolve();
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#inner.send(message);
    } finally {
      this.#input.sent(message);
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/**
 * Subscriptions of one connection in the 2025 protocol: by URI, until unsubscribed.
 *
 * Serves `resources/subscribe` and `resources/unsubscribe`; `feed` reports changes.
 */
export function serveSubscriptions(server: Server, host: McpHost, feed: SessionFeed): void {
  /** The subscribed URIs, by the feed's form of them. */
  const subscribed = new Map<string, Set<string>>();
  let stop: (() => void) | undefined;

  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    try {
      const named = parseSessionUri(uri);
      if (named === undefined) throw noSuchResource(uri);
      await host.tenant.getSessionMeta(named.id);
      const [told = ""] = urisOf(named.id);
      subscribed.set(told, (subscribed.get(told) ?? new Set()).add(uri));
    } catch (error) {
      throw toProtocolFailure(error, host, uri);
    }
    stop ??= feed.subscribe((event) => {
      if (event.kind !== "resource_updated") return;
      for (const asked of subscribed.get(event.uri) ?? []) {
        server.sendResourceUpdated({ uri: asked }).catch((error) => host.onError?.(error));
      }
    });
    await feed.started();
    return {};
  });

  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    for (const [told, asked] of subscribed) {
      asked.delete(uri);
      if (asked.size === 0) subscribed.delete(told);
    }
    if (subscribed.size === 0) {
      stop?.();
      stop = undefined;
    }
    return {};
  });

  const closed = server.onclose;
  server.onclose = () => {
    stop?.();
    closed?.();
  };
}

/** How long the end is held back. */
const PATIENCE_MS = 10_000;

/** A request that stays open as long as the connection. */
const ENDLESS = "subscriptions/listen";

/** Bytes of a line beyond which the SDK gives up: such a line is passed on as it comes. */
const MAX_LINE = 10 * 1024 * 1024;

/**
 * Standard input that ends only after all calls are answered: the SDK drops pending calls at the
 * end of its input, and a script such as `printf … | backscroll mcp` closes it at once. The SDK
 * also drops lines that are no message; of these, requests are reported here, so that they get an
 * answer.
 */
class PatientInput {
  readonly stream: Transform;
  readonly #pending = new Set<string | number>();
  #isEnding = false;
  #onAnswered: (() => void) | undefined;

  /** `onInvalid` gets the id of each request that is no valid message. */
  constructor(source: Readable, onInvalid: (id: string | number) => void) {
    this.stream = wholeLines((line) => {
      const id = idOfInvalid(line);
      if (id !== undefined) onInvalid(id);
    });
    source.pipe(this.stream, { end: false });
    const end = () => void this.#end();
    source.once("end", end);
    source.once("close", end);
  }

  received(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) {
      if (message.method !== ENDLESS) this.#pending.add(message.id);
    } else if (message.method === "notifications/cancelled") {
      this.#answered(message.params?.["requestId"]);
    }
  }

  /** Ends the input without waiting for calls in flight. */
  close(): void {
    this.#pending.clear();
    this.#onAnswered?.();
  }

  sent(message: JSONRPCMessage): void {
    if (!("method" in message)) this.#answered(message.id);
  }

  #answered(id: unknown): void {
    this.#pending.delete(id as string | number);
    if (this.#pending.size === 0) this.#onAnswered?.();
  }

  async #end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    while (this.stream.readableLength + this.stream.writableLength > 0 && !this.stream.isPaused()) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#pending.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onAnswered = resolve;
      const timer = setTimeout(resolve, PATIENCE_MS);
      await promise;
      clearTimeout(timer);
    }
    this.stream.end();
  }
}

/** Passes bytes on by whole lines, and calls `onLine` with each. */
function wholeLines(onLine: (line: string) => void): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.length > MAX_LINE ? bytes.length : bytes.lastIndexOf("\n") + 1;
      rest = bytes.subarray(end);
      for (const line of bytes.toString("utf8", 0, end).split("\n")) if (line !== "") onLine(line);
      done(null, bytes.subarray(0, end));
    },
  });
}

/** Undefined for a valid message, and for a line that has no id to answer to. */
function idOfInvalid(line: string): string | number | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
    deserializeMessage(line);
    return undefined;
  } catch {
    const id = isPlainObject(message) && "method" in message ? message["id"] : undefined;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  }
}
