/** MCP over standard input and output: one caller, which started this process. */

import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Server,
  Transport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { noSuchResource, toProtocolFailure } from "./failure.ts";
import type { McpHost } from "./host.ts";
import { isListen } from "./listen-request.ts";
import { parseSessionUri, urisOf } from "./resources/session-uri.ts";
import { createMcpServer } from "./server.ts";
import { SessionFeed } from "./session-feed.ts";
import { PatientInput } from "./stdio-input.ts";

export interface StdioOptions {
  readonly signal?: AbortSignal;
  /** Called with each incoming message, so that background work can yield. */
  readonly onMessage?: () => void;
}

/** Resolves when the caller closes its end, or the signal is aborted. */
export async function serveMcpStdio(host: McpHost, options: StdioOptions = {}): Promise<void> {
  const feed = new SessionFeed(host.tenant, host.onError);
  let current: Server | undefined;
  let stop: (() => void) | undefined;
  const transport = new ObservedTransport((message) => {
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
  readonly #input = new PatientInput(process.stdin, (id) => {
    const error = { code: -32600, message: "the line is not a valid JSON-RPC request" };
    this.#inner.send({ jsonrpc: "2.0", id, error }).catch((cause) => this.onerror?.(cause));
  });
  readonly #inner = new StdioServerTransport(this.#input.stream);
  #delay: Promise<void> | undefined;

  constructor(observe: (message: JSONRPCMessage) => Promise<void> | undefined) {
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
