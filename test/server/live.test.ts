import { randomFillSync } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TenantEngine } from "../../src/engine/tenant-engine.ts";
import { type Engine, open, type SessionHandle } from "../../src/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { type Event, Events } from "./events.ts";

let engine: Engine;
let server: RunningServer;
let session: SessionHandle;

/** The offset of the engine's clock. */
let laterMs = 0;

beforeEach(async () => {
  laterMs = 0;
  const now = () => Date.now() + laterMs;
  engine = await open(":memory:", { source: { now, random: (bytes) => randomFillSync(bytes) } });
  server = await openServer(engine, { version: "0.0.0", port: 0, heartbeatMs: 50, stallMs: 300 });
  session = await engine.createSession({ agent: "coder", createdBy: "ana" });
});
afterEach(async () => {
  await server.stop(100);
  await engine.close();
});

const kinds = (events: readonly Event[]) => events.map(({ event }) => event);

describe("changes as events", () => {
  test("begin now, and include the appended entry on request", async () => {
    await session.append({ role: "user", content: "before" });
    const events = await Events.open(`${server.url}/v1/changes?include_entries=true`);
    const entry = await session.append({ role: "user", content: "after" });
    const [first] = await events.take(1);
    expect(first).toMatchObject({ event: "entry_appended", data: { entry_id: entry.id } });
    expect(first?.data).toMatchObject({ entry: { blocks: [{ type: "text", text: "after" }] } });
    await events.close();
  });

  test("include chunks of an open message", async () => {
    const events = await Events.open(`${server.url}/v1/changes?include_entries=true`);
    const message = await session.openMessage({ role: "assistant" });
    expect(kinds(await events.take(1))).toEqual(["message_opened"]);
    await message.write("so far");
    const [chunk] = await events.take(1);
    expect(chunk?.data).toMatchObject({
      kind: "message_chunk",
      entry: { status: "pending", blocks: [{ text: "so far" }] },
    });
    await message.abort();
    await events.close();
  });

  test("resume after the last one seen, without gap or repeat", async () => {
    const url = `${server.url}/v1/changes?after=start`;
    const seen: string[] = [];
    let last: string | undefined;
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 5; i++) await session.append({ role: "user", content: `${round} ${i}` });
      const events = await Events.open(url, last === undefined ? {} : { "last-event-id": last });
      const part = await events.take(round === 0 ? 4 : 5);
      await events.close();
      seen.push(...part.map(({ id }) => id));
      last = part.at(-1)?.id;
    }
    const { changes } = await engine.listChanges({ limit: 500 });
    expect(seen).toEqual(changes.slice(0, 19).map(({ cursor }) => cursor));
  });

  test("of one session exclude others, and refuse an unknown one", async () => {
    const events = await Events.open(`${server.url}/v1/sessions/${session.id}/changes`);
    const other = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await other.append({ role: "user", content: "elsewhere" });
    await session.setTitle("Here");
    expect(kinds(await events.take(1))).toEqual(["session_updated"]);
    await events.close();
    const headers = { accept: "text/event-stream" };
    const missing = await fetch(`${server.url}/v1/sessions/nothing/changes`, { headers });
    expect(missing.status).toBe(404);
  });

  test("refuse a cursor of another epoch with a status", async () => {
    const headers = { accept: "text/event-stream" };
    const strange = "f2.00000000.00000000-0000-0000-0000-000000000000.1.0000000000000000";
    const answer = await fetch(`${server.url}/v1/changes?after=${strange}`, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([410, { code: "cursor_expired" }]);
    const wrong = await fetch(`${server.url}/v1/changes?after=x`, { headers });
    expect(wrong.status).toBe(400);
  });

  test("send heartbeats", async () => {
    const events = await Events.open(`${server.url}/v1/changes`);
    await events.untilComments(2);
    await events.close();
  });

  test("are not compressed: an event must not be buffered", async () => {
    const answer = await fetch(`${server.url}/v1/changes`, {
      headers: { accept: "text/event-stream", "accept-encoding": "gzip" },
    });
    expect(answer.headers.get("content-encoding")).toBeNull();
    await answer.body?.cancel();
  });
});

describe("followers", () => {
  const followers = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return /^backscroll_subscribers (\d+)$/m.exec(text)?.[1];
  };

  test("of one change share one read of its entry", async () => {
    const read = vi.spyOn(TenantEngine.prototype, "getEntry");
    onTestFinished(() => read.mockRestore());
    const url = `${server.url}/v1/changes?include_entries=true`;
    const many = await Promise.all(Array.from({ length: 20 }, () => Events.open(url)));
    const { id } = await session.append({ role: "user", content: "for all" });
    for (const events of many) {
      const [first] = await events.take(1);
      expect(first?.data).toMatchObject({ entry: { id, blocks: [{ text: "for all" }] } });
    }
    expect(read.mock.calls.length).toBeLessThan(10);
    await Promise.all(many.map((events) => events.close()));
  });

  test("are counted until they leave, and HEAD requests are not", async () => {
    for (let i = 0; i < 3; i++) {
      const headers = { accept: "text/event-stream" };
      const head = await fetch(`${server.url}/v1/changes`, { method: "HEAD", headers });
      expect([head.status, await head.text()]).toEqual([200, ""]);
    }
    await expect.poll(followers).toBe("0");
    const events = await Events.open(`${server.url}/v1/changes`);
    expect(await followers()).toBe("1");
    await events.close();
    await expect.poll(followers).toBe("0");
  });

  test("get nothing more when their token is revoked or has expired", async () => {
    const revoked = await engine.createToken({ scope: "read" });
    const short = await engine.createToken({ scope: "read", expires: Date.now() + 3_600_000 });
    const open = (token: string) =>
      Events.open(`${server.url}/v1/changes`, { authorization: `Bearer ${token}` });
    const [first, second] = [await open(revoked.token), await open(short.token)];
    await session.append({ role: "user", content: "heard" });
    expect(kinds(await first.take(1))).toEqual(["entry_appended"]);
    await engine.revokeToken(revoked.record.id);
    await expect(first.untilComments(1_000)).rejects.toThrow("the events have ended");
    laterMs = 3_600_000;
    await expect(second.untilComments(1_000)).rejects.toThrow("the events have ended");
    await expect.poll(followers).toBe("0");
  });

  test("are ended at /mcp too", async () => {
    let isCancelled = false;
    const stream = () =>
      new ReadableStream<Uint8Array>({
        cancel: () => {
          isCancelled = true;
        },
      });
    const own = await openServer(engine, {
      version: "0.0.0",
      port: 0,
      heartbeatMs: 50,
      mcp: async () => new Response(stream(), { headers: { "content-type": "text/event-stream" } }),
    });
    const { token, record } = await engine.createToken({ scope: "read" });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${own.url}/mcp`, { headers });
    await engine.revokeToken(record.id);
    expect(await answer.text()).toBe("");
    expect(isCancelled).toBe(true);
    await own.stop(100);
  });
});

describe("a stalled reader", () => {
  test("is dropped, with memory flat, and resumes where it was", async () => {
    const stalled = await openStalled(`${server.url}/v1/changes?after=start&include_entries=true`);
    const content = "x".repeat(50_000);
    for (let i = 0; i < 200; i++) await session.append({ role: "user", content });
    const dropped = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /^backscroll_subscribers_dropped_total (\d+)$/m.exec(text)?.[1];
    };
    await expect.poll(dropped).toBe("1");
    const got = await stalled.received();
    const whole = got.lastIndexOf("\n\n");
    const lastId = [...got.slice(0, whole).matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "";
    const position = Number(lastId.split(".").at(-2));
    expect(position).toBeLessThan(200);
    const events = await Events.open(`${server.url}/v1/changes`, { "last-event-id": lastId });
    const rest = await events.take(201 - position);
    expect(rest.map(({ data }) => data["position"])).toEqual(
      Array.from({ length: 201 - position }, (_, i) => position + 1 + i),
    );
    await events.close();
  });

  test("does not delay other readers", async () => {
    const stalled = await openStalled(`${server.url}/v1/changes?after=start&include_entries=true`);
    const events = await Events.open(`${server.url}/v1/changes`);
    const content = "x".repeat(50_000);
    for (let i = 0; i < 60; i++) await session.append({ role: "user", content });
    expect(await events.take(60)).toHaveLength(60);
    await events.close();
    stalled.destroy();
  });
});

/** A connection that reads only on request. */
async function openStalled(url: string): Promise<{ received(): Promise<string>; destroy(): void }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: "text/event-stream" } }, resolve).on("error", reject);
  });
  response.pause();
  return {
    destroy: () => response.destroy(),
    received: () =>
      new Promise((resolve) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("error", () => undefined);
        response.on("close", () => resolve(text));
        response.resume();
      }),
  };
}
