/** A gateway behind the server: messages of a channel find their session over HTTP. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/gateway/index.ts";
import { type Engine, open } from "../../src/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";

let engine: Engine;
let server: RunningServer;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  const namer = {
    name: "namer",
    generate: async () => ({ text: "A cron job.", finishReason: "stop" }),
  };
  engine = await open(":memory:", { models: { fast: namer } });
  const { config } = readConfig({ session: { dmScope: "per-peer", resetTriggers: ["!over"] } });
  server = await openServer(engine, {
    version: "0.0.0",
    port: 0,
    requireToken: true,
    gateway: config,
  });
  const make = async (name: string, input: object) => {
    tokens[name] = (await engine.createToken({ scope: "write", ...input })).token;
  };
  await make("channel", { actor: "bot", actAs: "any" });
  await make("ana", { actor: "ana" });
  await make("nobody", {});
});
afterAll(async () => {
  await server.stop();
  await engine.close();
});

async function inbound(body: object, token = "channel") {
  const response = await fetch(`${server.url}/v1/inbound`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens[token]}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}

describe("an inbound message", () => {
  test("is stored in the session that the server's configuration leads it to", async () => {
    const body = { channel: "telegram", peer: "4711", display_name: "Ana" };
    const first = await inbound({ ...body, text: "Hello" });
    expect(first).toMatchObject({
      key: "agent:main:direct:4711",
      action: "created",
      actor: "4711",
      route: { fields: { displayName: "Ana", provider: "telegram" } },
      entry: { role: "user", actor: "4711" },
    });
    const over = await inbound({ ...body, channel: "signal", text: "!over Next" });
    expect(over).toMatchObject({
      action: "reset",
      text: "Next",
      previous_session_id: first["session_id"],
    });
    const kept = await inbound({ ...body, text: "Not kept", append: false });
    expect(kept).toMatchObject({ action: "continued", entry: null });
    const meta = await engine.getSessionMeta(String(over["session_id"]));
    expect(meta.messageCount).toBe(1);
    expect(await inbound({ ...body, text: "/status" })).toMatchObject({
      answer: expect.stringContaining("agent:main:direct:4711"),
    });
  });

  test("is written by the token's actor", async () => {
    const body = { channel: "telegram", peer: "5", text: "Hi" };
    expect(await inbound(body, "ana")).toMatchObject({ actor: "ana" });
    expect(await inbound({ ...body, sender: "ben" }, "ana")).toMatchObject({ code: "forbidden" });
    expect(await inbound(body, "nobody")).toMatchObject({ code: "invalid_input" });
    expect(await inbound({ ...body, sender: "ben" })).toMatchObject({ actor: "ben" });
  });
});

test("a title is found by a model of the store, by its name", async () => {
  const session = await engine.createSession({ agent: "main", createdBy: "ana" });
  await session.append({ role: "user", content: "Why does the cron job run twice?" });
  const ask = async (body: object) => {
    const response = await fetch(`${server.url}/v1/sessions/${session.id}/title`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tokens["ana"]}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    return [response.status, await response.json()] as const;
  };
  expect(await ask({ model: "fast" })).toEqual([200, { title: "A cron job" }]);
  expect((await session.meta()).title).toBe("A cron job");
  expect(await ask({})).toMatchObject([503, { code: "model_unavailable" }]);
});
