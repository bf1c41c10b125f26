/** A server with a model: inbound messages over HTTP, model calls over HTTP. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/gateway/index.ts";
import { type Engine, open } from "../../src/index.ts";
import { compatibleModel } from "../../src/models.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { createFolder } from "../support/folder.ts";
import {
  failsWith,
  keepsSilent,
  type ModelServer,
  startModelServer,
} from "../support/model-server.ts";
import { createDatabase } from "../support/postgres.ts";
import { streams } from "../support/streamed-answer.ts";
import { startNode } from "./node.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.close());

const { config } = readConfig({
  agents: { defaults: { model: "default", instructions: "Be brief.", contextTokens: 8_000 } },
});

async function post(url: string, path: string, body: object, signal?: AbortSignal) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  return [response.status, (await response.json()) as Record<string, unknown>] as const;
}

describe.each([
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
])("on %s", (_, newAddress) => {
  let engine: Engine;
  let server: RunningServer;
  beforeAll(async () => {
    const answers = compatibleModel({ baseUrl: model.url, model: "m", maxRetries: 0 });
    engine = await open(await newAddress(), { models: { default: answers } });
    server = await openServer(engine, { version: "0.0.0", port: 0, gateway: config });
  });
  afterAll(async () => {
    await server.stop();
    await engine.close();
  });

  let people = 0;
  const inbound = (peer: string, text: string, more: object = {}) =>
    post(server.url, "/v1/inbound", { channel: "telegram", peer, text, ...more });

  test("a message is stored and answered, and the reply is in the response", async () => {
    const peer = `p${++people}`;
    model.answer(streams({ text: ["Hello ", "Ana."], usage: { input: 9, output: 3 } }));
    const [status, body] = await inbound(peer, "Hi, I am Ana.");
    expect([status, body]).toMatchObject([
      200,
      { reply: "Hello Ana.", reply_reason: "answered", silent: false, notices: [], thoughts: [] },
    ]);
    expect(model.requests[0]).toMatchObject({ system: "Be brief.", user: "Hi, I am Ana." });
    const { messages } = await engine.listMessages(String(body["session_id"]));
    expect(messages.map(({ id }) => id)).toEqual([
      (body["entry"] as { id: string }).id,
      body["reply_entry_id"],
    ]);
    const { fields } = await engine.routes.get(String(body["key"]));
    expect(fields).toMatchObject({ inputTokens: 9, outputTokens: 3 });
  });

  test("silence, a muted route and commands are respected", async () => {
    const peer = `p${++people}`;
    model.answer(streams({ text: ["NO_", "REPLY"] }));
    const [, silent] = await inbound(peer, "Hm.");
    expect(silent).toMatchObject({ reply: null, reply_reason: "silent", silent: true });
    model.answer(streams({ text: ["secret"] }));
    expect((await inbound(peer, "/status"))[1]).toMatchObject({
      reply: expect.stringContaining(String(silent["key"])),
      reply_reason: "command",
    });
    expect((await inbound(peer, "/compact keep names"))[1]).toMatchObject({
      reply: expect.stringMatching(/^Not compacted: /),
    });
    expect(model.requests).toEqual([]);
    await engine.routes.patch(String(silent["key"]), { sendPolicy: "deny" });
    const [, denied] = await inbound(peer, "Psst.");
    expect(denied).toMatchObject({ reply: null, reply_reason: "denied", silent: false });
    expect(JSON.stringify(denied)).not.toContain("secret");
    const [, kept] = await inbound(peer, "Not for the agent.", { append: false });
    expect(kept).toMatchObject({ reply: null, reply_reason: "not_stored", entry: null });
    expect(model.requests).toHaveLength(1);
  });

  test("a model failure is a coded problem, and the message stays", async () => {
    const peer = `p${++people}`;
    model.answer(failsWith(500), streams({ text: ["Better."] }));
    const [status, problem] = await inbound(peer, "Hi", { id: "1" });
    expect([status, problem]).toMatchObject([
      502,
      { code: "model_failed", details: { kind: "http", status: 500 } },
    ]);
    const { session_id: sessionId, entry_id: entryId } = problem["details"] as Record<
      string,
      string
    >;
    const { messages } = await engine.listMessages(sessionId ?? "");
    expect(messages.map(({ id }) => id)).toEqual([entryId]);
    const [, again] = await inbound(peer, "Hi", { id: "1" });
    expect(again).toMatchObject({ reply: "Better.", entry: { id: entryId } });
    expect((await inbound(peer, "Hi", { id: "1" }))[1]).toMatchObject({ reply: "Better." });
    expect(model.requests).toHaveLength(2);
  });

  test("a client that disconnects stops the answer, and finds the message stored", async () => {
    const peer = `p${++people}`;
    const gone = new AbortController();
    model.answer((request, response) => {
      gone.abort();
      return keepsSilent()(request, response);
    });
    const body = { channel: "telegram", peer, text: "Anybody?", id: "1" };
    const left = post(server.url, "/v1/inbound", body, gone.signal);
    await expect(left).rejects.toThrow();
    model.answer(streams({ text: ["Me."] }));
    const [, again] = await inbound(peer, "Anybody?", { id: "1" });
    expect(again).toMatchObject({ reply: "Me." });
    expect((await engine.getSessionMeta(String(again["session_id"]))).messageCount).toBe(2);
  });

  test("the server ends the turn: it compacts, and sends the notice", async () => {
    const peer = `p${++people}`;
    model.answer(streams({ text: ["NO_REPLY"] }));
    const [, first] = await inbound(peer, "Hi");
    const session = await engine.getSession(String(first["session_id"]));
    await engine.routes.patch(String(first["key"]), { verboseLevel: "on" });
    for (let i = 0; i < 30; i++) {
      await session.append([
        { role: "user", actor: peer, content: `question ${i} ${"word ".repeat(60)}` },
        { role: "assistant", content: `answer ${i} ${"word ".repeat(60)}` },
      ]);
    }
    model.answer(({ tools }, response) =>
      streams({ text: [tools.includes("remember") ? "NO_REPLY" : "Done."] })({} as never, response),
    );
    const [, last] = await inbound(peer, "And now?");
    expect(last).toMatchObject({
      reply: "Done.",
      notices: ["🧹 Auto-compaction complete (count 1)"],
    });
  });
});

test("a server without a model stores, and gives the reason for no reply", async () => {
  await using engine = await open(":memory:");
  const server = await openServer(engine, { version: "0.0.0", port: 0 });
  const message = { channel: "telegram", peer: "ana", text: "Hi" };
  const [status, body] = await post(server.url, "/v1/inbound", message);
  expect([status, body]).toMatchObject([
    200,
    { reply: null, reply_reason: "no_model", silent: false, entry: { role: "user" } },
  ]);
  await server.stop();
});

test("a server does not start with an unknown model", async () => {
  await using engine = await open(":memory:");
  const started = openServer(engine, { version: "0.0.0", port: 0, gateway: config });
  await expect(started).rejects.toMatchObject({
    code: "model_unavailable",
    details: { field: "agents.defaults.model" },
    message: expect.stringMatching(/^agents\.defaults\.model is default: there is no model/),
  });
});

test("the command line's server answers with the model of its environment", async () => {
  const folder = createFolder();
  const file = join(folder, "config.json");
  writeFileSync(file, '{"agents":{"defaults":{"model":"default"}}}');
  const variables = {
    HOME: folder,
    BACKSCROLL_CONFIG: file,
    BACKSCROLL_MODEL_URL: model.url,
    BACKSCROLL_MODEL: "m",
  };
  model.answer(streams({ text: ["Hello."] }));
  const node = await startNode(["--db", join(folder, "store.db")], variables);
  onTestFinished(() => void node.child.kill("SIGKILL"));
  const message = { channel: "telegram", peer: "ana", text: "Hi" };
  const [, body] = await post(node.url, "/v1/inbound", message);
  expect(body).toMatchObject({ reply: "Hello.", reply_reason: "answered" });
  expect(await node.stop()).toBe(0);
  const without = { HOME: folder, BACKSCROLL_CONFIG: file };
  const failed = startNode(["--db", join(folder, "store.db")], without);
  await expect(failed).rejects.toThrow(/set BACKSCROLL_MODEL_URL and BACKSCROLL_MODEL/);
});
