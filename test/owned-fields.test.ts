/** Fields that callers cannot write, and settings that are checked when they are written. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type RemoteEngine } from "../src/client/index.ts";
import { clawPolicy } from "../src/gateway/index.ts";
import { type Engine, open } from "../src/index.ts";
import { openServer, type RunningServer } from "../src/server/index.ts";
import { createDatabase } from "./support/postgres.ts";

const WAY =
  /summary"; a session's summary is that of its newest compaction; write one with compact/;
const created = { agent: "coder", createdBy: "ana" };

describe.each([
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
])("on %s", (_, newAddress) => {
  let engine: Engine;
  let server: RunningServer;
  let remote: RemoteEngine;
  beforeAll(async () => {
    engine = await open(await newAddress(), { inThread: true });
    server = await openServer(engine, { version: "0", port: 0 });
    remote = await connect(server.url);
  });
  afterAll(async () => {
    await server.stop();
    await engine.close();
  });

  test("a summary is written by a compaction only, on every surface", async () => {
    const session = await engine.createSession(created);
    await session.append([
      { role: "user", content: "Why twice?" },
      { role: "assistant", content: "Two timers. ".repeat(80) },
    ]);
    const summary = "mine" as never;
    const refused = { code: "invalid_input", message: expect.stringMatching(WAY) };
    for (const tenant of [engine, remote]) {
      const own = tenant.session(session.id);
      await expect(own.update({ summary } as never)).rejects.toMatchObject(refused);
      await expect(own.update({ summary: null } as never)).rejects.toMatchObject(refused);
      await expect(tenant.createSession({ ...created, summary } as never)).rejects.toMatchObject(
        refused,
      );
    }
    const figures = {
      exchange_count: 1,
      tool_counts: {},
      file_mtime: null,
      first_msg_at: null,
      last_msg_at: null,
      cost_usd: null,
    };
    for (const [path, body] of [
      [`/v1/sessions/${session.id}`, { summary: "mine" }],
      [`/v1/ingest/sessions/${session.id}`, { summary: "mine", figures }],
    ] as const) {
      const answer = await fetch(server.url + path, {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect([path, answer.status]).toEqual([path, 400]);
    }
    expect((await session.meta()).summary).toBeNull();
    await session.compact({ keep: "none", before: () => ({ summary: "Two timers ran it." }) });
    expect((await session.meta()).summary).toBe("Two timers ran it.");
  });

  test("the cost of an ingested session is kept with its other figures", async () => {
    const figures = {
      exchangeCount: 1,
      toolCounts: {},
      fileMtime: null,
      firstMessageAt: null,
      lastMessageAt: null,
      costUsd: 0.25,
    };
    const session = await engine.createSession(created);
    expect((await session.update({ figures })).figures).toEqual(figures);
    expect((await remote.session(session.id).update({ figures })).figures).toEqual(figures);
  });

  test.each([
    [{ triggerTurn: 5 }, "triggerTurn", "is not known; did you mean triggerTurns?"],
    [{ triggerTokens: "many" }, "triggerTokens", "must be a number that is not negative"],
    [{ strategy: "weekly" }, "strategy", "must be one of rolling, hierarchical, never"],
    [{ enabled: "no" }, "enabled", "must be true or false"],
  ])("metadata.compaction %j is refused when it is written", async (compaction, field, words) => {
    const metadata = { compaction } as never;
    const session = await engine.createSession(created);
    const refused = {
      code: "invalid_input",
      message: expect.stringContaining(`metadata.compaction.${field} ${words}`),
      details: { field: `metadata.compaction.${field}` },
    };
    const writes = [
      () => engine.createSession({ ...created, metadata }),
      () => engine.ensureSession({ ...created, key: "k", metadata }),
      () => engine.routes.put("k", { create: { ...created, metadata } }),
      () => session.fork({ createdBy: "ana", metadata }),
      () => session.update({ metadata }),
      () => remote.createSession({ ...created, metadata }),
      () => remote.session(session.id).update({ metadata }),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject(refused);
    expect((await session.meta()).metadata).toEqual({});
  });

  test("a stored setting that is not known does not prevent a fork", async () => {
    const metadata = { compaction: { triggerTurn: 5 } };
    const session = await engine.createSession(created);
    await session.append({ role: "user", content: "hi" });
    await engine["engine"].store.updateSession("default", session.id, { metadata }, Date.now());
    const fork = await session.fork({ createdBy: "ana" });
    expect((await fork.meta()).metadata).toEqual(metadata);
    await session.update({ metadata: { compaction: null } });
    expect((await session.meta()).metadata).toEqual({});
  });
});

test("claw-code's names of its numbers lead to ours", async () => {
  await using engine = await open(":memory:");
  const session = await engine.createSession(created);
  const asked = session.compact({ preserve_recent_messages: 4 } as never);
  await expect(asked).rejects.toThrow('use preset: { name: "claw", messages }');
  const preset = { name: "claw", max_estimated_tokens: 10_000 } as never;
  await expect(session.compact({ preset })).rejects.toThrow("use tokens");
  const metadata = { compaction: { preserve_recent_messages: 4 } };
  await expect(session.update({ metadata })).rejects.toThrow("of clawPolicy()");
  expect(() => clawPolicy({ max_estimated_tokens: 0 } as never)).toThrow("use tokens");
});
