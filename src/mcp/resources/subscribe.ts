/** Subscriptions of one connection in the 2025 protocol: by URI, until unsubscribed. */

import type { Server } from "@modelcontextprotocol/server";
import { noSuchResource, toProtocolFailure } from "../failure.ts";
import type { McpHost } from "../host.ts";
import type { SessionFeed } from "../session-feed.ts";
import { parseSessionUri, urisOf } from "./session-uri.ts";

/** Serves `resources/subscribe` and `resources/unsubscribe`; `feed` reports changes. */
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
    // The answer promises all changes after it.
    if (stop === undefined) await feed.prepare();
    stop ??= feed.subscribe((event) => {
      if (event.kind !== "resource_updated") return;
      for (const asked of subscribed.get(event.uri) ?? []) {
        server.sendResourceUpdated({ uri: asked }).catch((error) => host.onError?.(error));
      }
    });
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
