/** A subscription that was acknowledged misses no change, however slow the store is. */

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { TenantApi } from "../src/engine/interfaces.ts";
import type { SubscribeInput } from "../src/engine/subscribe.ts";
import { READ_ACCESS } from "../src/mcp/access.cases.ts";
import { createMcpServer } from "../src/mcp/server.ts";
import { SessionFeed } from "../src/mcp/session-feed.ts";
import { serveSubscriptions } from "../src/mcp/stdio.ts";
import { open } from "../src/open.ts";
import { connectHttp } from "./support/mcp-client.ts";
import { startMcpHttp } from "./support/mcp-http.ts";

/** Longer than an acknowledgement and an append take. */
const SLOW_MS = 300;

/** `tenant` with a feed whose reads begin late. */
function withSlowFeed<T extends TenantApi>(tenant: T): T {
  return new Proxy(tenant, {
    get(target, name) {
      if (name === "listChanges") {
        return async (...args: Parameters<TenantApi["listChanges"]>) => {
          await sleep(SLOW_MS);
          return target.listChanges(...args);
        };
      }
      if (name === "subscribe") {
        return async function* (input: SubscribeInput) {
          await sleep(SLOW_MS);
          yield* target.subscribe(input);
        };
      }
      if (name === "forTenant") return () => withSlowFeed(target);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function openSlow(): Promise<Engine> {
  const engine = await open(":memory:", { inThread: true });
  onTestFinished(() => engine.close());
  return withSlowFeed(engine);
}

function told(client: Client): string[] {
  const uris: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    uris.push(params.uri);
  });
  return uris;
}

test("2026-07-28, over HTTP", async () => {
  const engine = await openSlow();
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const http = await startMcpHttp(engine, { reader: READ_ACCESS });
  onTestFinished(() => http.close());
  const client = await connectHttp(http.url, "2026-07-28", "reader");
  onTestFinished(() => client.close());
  const uris = told(client);
  await client.listen({ resourceSubscriptions: [`session://${session.id}`] });
  await session.append({ role: "user", content: "right after the acknowledgement" });
  await expect.poll(() => uris).toEqual([`session://${session.id}`]);
});

test("2025-11-25, over one connection", async () => {
  const engine = await openSlow();
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const host = { tenant: engine, access: READ_ACCESS, version: "0.0.0" };
  const server = createMcpServer(host, { era: "legacy", subscriptions: true });
  serveSubscriptions(server, host, new SessionFeed(engine));
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(ours);
  onTestFinished(() => client.close());
  const uris = told(client);
  await client.subscribeResource({ uri: `session://${session.id}` });
  await session.append({ role: "user", content: "right after the acknowledgement" });
  await expect.poll(() => uris).toEqual([`session://${session.id}`]);
});
