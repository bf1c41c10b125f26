import { beforeEach, expect, onTestFinished, test } from "vitest";
import { Engine } from "../engine/engine.ts";
import { BackscrollError } from "../model/errors.ts";
import { openStore } from "../open.ts";
import { openServer } from "../server/serve.ts";
import type { Store } from "../store/store.ts";
import { connect } from "./connect.ts";

/** A store that is sometimes busy: a repeated commit duplicates nothing. */

let url: string;
let engine: Engine;
/** Operations that fail once more each. */
let busy: string[];

beforeEach(async () => {
  busy = [];
  const store = await openStore(":memory:");
  engine = new Engine(busyAt(store));
  const server = await openServer(engine, { version: "0.0.0", port: 0 });
  ({ url } = server);
  onTestFinished(async () => {
    await server.stop(100);
    await engine.close();
  });
});

function busyAt(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        const at = busy.indexOf(String(name));
        if (at < 0) return value.apply(target, args);
        busy.splice(at, 1);
        throw new BackscrollError("store_busy", "busy", { details: { retryAfterMs: 1 } });
      };
    },
  });
}

async function post(path: string, body: object): Promise<{ status: number; json: unknown }> {
  const headers = { "content-type": "application/json" };
  const sent = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, sent);
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : JSON.parse(text) };
}

test.each(["one", "x".repeat(100_000)])(
  "a client's commit of a text is stored once",
  async (text) => {
    const client = await connect(url);
    onTestFinished(() => client.close());
    const session = await client.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    message.write(text).catch(() => undefined);
    busy = ["commitStream"];
    const entry = await message.commit();
    expect(entry.blocks).toEqual([{ type: "text", text }]);
    expect(busy).toEqual([]);
  },
);

test.each([
  ["commit", ["commitStream"]],
  ["commit", ["commitStream", "writeStream"]],
  ["abort", ["abortStream"]],
  ["chunks", ["writeStream"]],
])("a request to %s that was refused is sent again as it was", async (how, failing) => {
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const opened = await post(`/v1/sessions/${session.id}/streams`, { role: "assistant" });
  const { id, lease } = opened.json as { id: string; lease: string };
  const chunks = ["so ", "y".repeat(70_000), " far"];
  const path = `/v1/sessions/${session.id}/streams/${id}/${how}`;
  busy = [...failing];
  expect(await post(path, { lease, chunks })).toMatchObject({ status: 503 });
  expect((await engine.getEntry(id)).blocks).toEqual([]);
  busy = [];
  expect((await post(path, { lease, chunks })).status).toBeLessThan(300);
  expect((await engine.getEntry(id)).blocks).toEqual([{ type: "text", text: chunks.join("") }]);
});

test("chunks sent before the commit count in the estimate of its context", async () => {
  const client = await connect(url);
  onTestFinished(() => client.close());
  const tokens = [];
  for (const store of [engine, client]) {
    const session = await store.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant", model: "m" });
    await message.write("The lock is gone. ".repeat(200));
    await message.flush();
    await message.commit();
    const { changes } = await engine.listChanges({ session: session.id, limit: 100 });
    const call = changes.find(({ kind }) => kind === "context_usage");
    tokens.push(call?.details["contextTokens"]);
  }
  expect(tokens[0]).toBeGreaterThan(500);
  expect(tokens[1]).toBe(tokens[0]);
});
