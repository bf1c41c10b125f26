import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ServedStore, serveStore } from "./client.cases.ts";
import { connect } from "./connect.ts";

/** Lost answers: the request is carried out once, or not repeated. */

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

async function createSession() {
  const { remote, engine } = served;
  const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
  return { session, local: await engine.getSession(session.id) };
}

function timesAsked(path: RegExp): number {
  return served.line.requests.filter((request) => path.test(request)).length;
}

describe("a write whose answer is lost", () => {
  test("is repeated under its key, and stored once", async () => {
    const { session, local } = await createSession();
    served.line.loseAnswers(/^POST .*\/messages/, 2);
    const before = timesAsked(/\/messages$/);
    const entry = await session.append({ role: "user", content: "once" });
    expect(timesAsked(/\/messages$/) - before).toBe(3);
    expect(await local.history()).toStrictEqual([entry]);
  });

  test("creates, forks, edits and opens once", async () => {
    const { remote, engine, line } = served;
    const sessions = async () => (await engine.status()).tenants[0]?.sessions ?? 0;
    const before = await sessions();
    line.loseAnswers(/^POST \/v1\/sessions$/);
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    const entry = await session.append({ role: "user", content: "hi" });
    line.loseAnswers(/\/fork$/);
    await session.fork({ createdBy: "ben" });
    expect((await sessions()) - before).toBe(2);
    line.loseAnswers(/\/edit$/);
    const edited = await session.edit(entry.id, "hello");
    expect((await session.meta()).messageCount).toBe(2);
    line.loseAnswers(/\/streams$/);
    const message = await session.openMessage({ role: "assistant" });
    await message.write("Once.");
    line.loseAnswers(/\/commit$/);
    const committed = await message.commit();
    expect(committed).toMatchObject({ status: "committed", parentId: edited.id });
    expect(await session.history()).toStrictEqual([edited, committed]);
    expect((await engine.tenantStatus())?.pending).toBe(0);
  });

  test("is not repeated if the store could not recognise it", async () => {
    const { session, local } = await createSession();
    const entry = await session.append({ role: "user", content: "hi" });
    served.line.loseAnswers(/\/label$/);
    const before = timesAsked(/\/label$/);
    await expect(session.label(entry.id, "good")).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(timesAsked(/\/label$/) - before).toBe(1);
    expect((await local.labels()).get(entry.id)).toBe("good");
  });

  test("compacts once under the caller's key", async () => {
    const { session, local } = await createSession();
    const content = "a question ".repeat(60);
    for (let i = 0; i < 6; i++) await session.append({ role: "user", content });
    served.line.loseAnswers(/\/compact$/);
    const { entry } = await session.compact({ keep: { messages: 1 }, idempotencyKey: "c1" });
    const kinds = (await local.listEntries({ tree: true })).entries.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "compaction")).toHaveLength(1);
    expect(entry).toStrictEqual(await local.getEntry(entry?.id ?? ""));
  });

  test("of records is repeated if it puts and checks, and not if it deletes", async () => {
    const { records } = served.remote;
    const place = { namespace: "retried", key: "parent" };
    await records.put({ ...place, value: 0 });
    served.line.loseAnswers(/\/records\/write$/);
    const child = { namespace: "retried", key: "child", value: 1 };
    const [, info] = await records.write([{ check: place }, { put: child }]);
    expect(await records.get("retried", "child")).toMatchObject({ version: info?.version });
    const before = timesAsked(/\/records\/write$/);
    served.line.loseAnswers(/\/records\/write$/);
    await expect(records.write([{ put: child }, { delete: place }])).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(timesAsked(/\/records\/write$/) - before).toBe(1);
  });

  test("keeps the caller's own key", async () => {
    const { session } = await createSession();
    const message = { role: "user", content: "hi" } as const;
    const first = await session.append(message, { idempotencyKey: "k 1" });
    expect(await session.append(message, { idempotencyKey: "k 1" })).toStrictEqual(first);
    const other = session.append({ role: "user", content: "x" }, { idempotencyKey: "k 1" });
    await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
  });
});

test("a read is repeated, up to a limit", async () => {
  const { line, connect } = served;
  const client = await connect({ retries: 1 });
  line.loseAnswers(/\/v1\/status/, 1);
  await client.tenantStatus();
  line.loseAnswers(/\/v1\/status/, 2);
  await expect(client.tenantStatus()).rejects.toMatchObject({ code: "store_unavailable" });
});

describe("a busy server", () => {
  /** Refuses the first requests after the first one, and counts all. */
  async function startBusy(status: number, headers: Record<string, string>, refused: number) {
    let asked = 0;
    const server = createServer((request, response) => {
      if (request.url === "/v1/access") {
        response.end(JSON.stringify({ server: "backscroll", tenant: "default" }));
        return;
      }
      asked++;
      if (asked <= refused) response.writeHead(status, headers).end("busy");
      else response.writeHead(200, { "content-type": "application/json" }).end('{"status":null}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    return { client: await connect(`http://127.0.0.1:${port}`), asked: () => asked };
  }

  test("is retried after its Retry-After", async () => {
    const { client, asked } = await startBusy(429, { "retry-after": "1" }, 1);
    const started = performance.now();
    await client.tenantStatus();
    expect(asked()).toBe(2);
    expect(performance.now() - started).toBeGreaterThanOrEqual(999);
  });

  test("is retried after a 503, for repeatable requests only", async () => {
    const { client, asked } = await startBusy(503, {}, 2);
    await client.tenantStatus();
    expect(asked()).toBe(3);
    const refusing = await startBusy(503, {}, 1);
    await expect(refusing.client.deleteMemory("a", "b")).rejects.toMatchObject({
      code: "store_unavailable",
      details: { status: 503 },
    });
    expect(refusing.asked()).toBe(1);
  });

  test("is given up on if Retry-After exceeds a minute", async () => {
    const { client, asked } = await startBusy(503, { "retry-after": "3600" }, 1);
    await expect(client.tenantStatus()).rejects.toMatchObject({ details: { status: 503 } });
    expect(asked()).toBe(1);
  });
});
