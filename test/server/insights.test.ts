/** Aggregates over sessions, and links to single ones, through a server and its client. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type RemoteEngine } from "../../src/client/index.ts";
import { type Engine, open } from "../../src/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { createDatabase } from "../support/postgres.ts";

const SECRET =
  "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefghijAA";

describe.each(["sqlite", "postgres"])("on %s", (backend) => {
  let engine: Engine;
  let server: RunningServer;
  let memory: RemoteEngine;
  beforeAll(async () => {
    engine = await open(backend === "sqlite" ? ":memory:" : await createDatabase());
    server = await openServer(engine, { version: "0.0.0", port: 0 });
    memory = await connect(server.url);
    await fill(memory);
  });
  afterAll(async () => {
    await memory.close();
    await server.stop();
    await engine.close();
  });

  test("a list has counts by the values of each filter", async () => {
    const facets = await memory.facets();
    expect(facets).toEqual({
      sessions: 3,
      more: false,
      agent: [
        { value: "claude-code", count: 2 },
        { value: "codex", count: 1 },
      ],
      project: [
        { value: "/srv/shop", count: 2 },
        { value: "/srv/blog", count: 1 },
      ],
      workstation: [{ value: "desk", count: 3 }],
      repo: [{ value: "github.com/acme/shop", count: 2 }],
      source: [
        { value: "claude-code", count: 2 },
        { value: "codex", count: 1 },
      ],
      model: [
        { value: "claude-opus-4-5", count: 2 },
        { value: "gpt-5", count: 1 },
      ],
      role: [],
      since: ["1d", "7d", "30d", "365d"].map((value) => ({ value, count: 3 })),
    });
    const ofModel = await memory.listSessions({ model: "gpt-5" });
    expect(ofModel.sessions.map(({ agent }) => agent)).toEqual(["codex"]);
    expect(await memory.facets({ model: "gpt-5" })).toMatchObject({
      sessions: 1,
      model: [{ value: "gpt-5", count: 1 }],
    });
    expect(await memory.facets({ project: "blog" })).toMatchObject({
      sessions: 1,
      agent: [{ value: "codex", count: 1 }],
    });
  });

  test("a search has counts of its hits, also as you type", async () => {
    const { sessions, agent, role } = await memory.facets({ query: "checko", asYouType: true });
    expect({ sessions, agent, role }).toEqual({
      sessions: 2,
      agent: [{ value: "claude-code", count: 2 }],
      role: [{ value: "user", count: 2 }],
    });
    expect(await memory.facets({ query: "nothingofthekind" })).toMatchObject({ sessions: 0 });
    for (const input of [{ role: "user" }, { branches: "all" }, { asYouType: true }] as const) {
      const [field] = Object.keys(input);
      const refused = { code: "invalid_input", details: { field } };
      await expect(memory.facets(input)).rejects.toMatchObject(refused);
    }
  });

  test("a review has failed calls, retries and unfinished requests", async () => {
    const { sessions, tools, files } = await memory.review();
    expect(
      sessions.map(({ session, calls, failed, retries, unfinished, firstFailure }) => [
        session.title,
        [calls, failed, retries, unfinished, firstFailure],
      ]),
    ).toEqual([
      ["Blog", [0, 0, 0, "request", null]],
      ["Slow checkout", [3, 2, 1, null, 1]],
      ["Checkout tax", [0, 0, 0, null, null]],
    ]);
    expect(tools).toEqual([
      { tool: "Bash", calls: 2, failed: 2 },
      { tool: "Edit", calls: 1, failed: 0 },
    ]);
    expect(files).toEqual([{ path: "/srv/shop/tax.ts", times: 1 }]);
  });

  test("stats name the sessions with most tokens", async () => {
    const { busiest, models } = await memory.stats();
    expect(busiest.map(({ title, tokens }) => [title, tokens.inputTokens])).toEqual([
      ["Slow checkout", 500],
      ["Checkout tax", 40],
      ["Blog", 10],
    ]);
    expect([...models.keys()].sort()).toEqual(["claude-opus-4-5", "gpt-5"]);
  });

  test("a session is resumed by its own agent's command", async () => {
    expect(await memory.resumeCommand("5d0e3c1a-own")).toEqual({
      command: "claude --resume 5d0e3c1a-own",
      folder: "/srv/shop",
      workstation: "desk",
    });
    const made = await memory.createSession({ agent: "coder", createdBy: "ana" });
    expect(await memory.resumeCommand(made.id)).toMatchObject({ command: null });
    await memory.deleteSession(made.id);
  });

  test("a shared link shows one session, masked, until it is revoked", async () => {
    const { id } = await memory.getSessionMeta("5d0e3c1a-own");
    const made = await memory.shares.create(id);
    const link = memory.shares.linkOf(made.token);
    // A browser without a token, as from a link in a chat.
    const headers = { "sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0" };
    const shown = await fetch(link, { headers });
    expect(shown.status).toBe(200);
    expect(shown.headers.get("referrer-policy")).toBe("no-referrer");
    expect(shown.headers.get("cache-control")).toBe("no-store");
    const page = await shown.text();
    expect(page).toContain("<p>Why is checkout slow? The key is [redacted]</p>");
    expect(page).not.toContain(SECRET);
    for (const private_ of [id, "ana", "<dt>Owner"]) expect(page).not.toContain(private_);
    expect(await memory.shares.list(id)).toEqual([made.share]);
    expect(made.share.expiresAt).toBeGreaterThan(Date.now());

    // The link gives access to the shared page, not to the API.
    for (const token of [made.token, made.token.replace("bss_", "bsk_")]) {
      const refused = await fetch(`${server.url}/v1/sessions`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(refused.status).toBe(401);
    }

    await memory.shares.revoke(made.share.id);
    expect(await memory.shares.list()).toEqual([]);
    expect((await fetch(link)).status).toBe(404);
    await expect(memory.shares.revoke(made.share.id)).rejects.toMatchObject({
      code: "token_not_found",
    });
  });

  test("a shared link expires with its session, and only the whole link opens it", async () => {
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    const { token } = await memory.shares.create(session.id, {
      expires: new Date(Date.now() + 60_000),
    });
    const link = memory.shares.linkOf(token);
    expect((await fetch(link)).status).toBe(200);
    const last = token.endsWith("A") ? "B" : "A";
    expect((await fetch(link.slice(0, -1) + last)).status).toBe(404);
    await memory.deleteSession(session.id);
    expect((await fetch(link)).status).toBe(404);
    expect(await memory.shares.list()).toEqual([]);
  });

  test("a share expires within a year", async () => {
    const { id } = await memory.getSessionMeta("5d0e3c1a-own");
    for (const expires of [Date.now() - 1_000, Date.now() + 366 * 86_400_000]) {
      await expect(memory.shares.create(id, { expires })).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "expires" },
      });
    }
  });
});

async function fill(memory: RemoteEngine): Promise<void> {
  const origin = { workstation: "desk", repo: "github.com/acme/shop", projectPath: "/srv/shop" };
  const tax = await memory.createSession({
    agent: "claude-code",
    createdBy: "ana",
    title: "Checkout tax",
    origin: { ...origin, source: "claude-code", key: "claude-code:7a9b8c7d-own" },
  });
  await tax.append([
    { role: "user", actor: "ana", content: "Where is the checkout tax?" },
    {
      role: "assistant",
      content: "In tax.ts.",
      model: "claude-opus-4-5",
      usage: { inputTokens: 40 },
    },
  ]);
  const slow = await memory.createSession({
    agent: "claude-code",
    createdBy: "ana",
    title: "Slow checkout",
    origin: { ...origin, source: "claude-code", key: "claude-code:5d0e3c1a-own" },
  });
  const run = (id: string) => ({
    role: "assistant" as const,
    toolCalls: [{ id, name: "Bash", input: { command: "npm test" } }],
  });
  const failed = (id: string) => ({
    role: "tool" as const,
    toolResults: [{ id, output: "1 failed", isError: true }],
  });
  await slow.append([
    { role: "user", actor: "ana", content: `Why is checkout slow? The key is ${SECRET}` },
    run("c1"),
    failed("c1"),
    run("c2"),
    failed("c2"),
    {
      role: "assistant",
      toolCalls: [
        {
          id: "c3",
          name: "Edit",
          input: { file_path: "/srv/shop/tax.ts", old_string: "a", new_string: "b" },
        },
      ],
    },
    { role: "tool", toolResults: [{ id: "c3", output: "done" }] },
    {
      role: "assistant",
      content: "It is fast now.",
      model: "claude-opus-4-5",
      usage: { inputTokens: 500 },
    },
  ]);
  const blog = await memory.createSession({
    agent: "codex",
    createdBy: "ana",
    title: "Blog",
    origin: { workstation: "desk", projectPath: "/srv/blog", source: "codex", key: "codex:b1" },
  });
  await blog.append([
    { role: "assistant", content: "Hello.", model: "gpt-5", usage: { inputTokens: 10 } },
    { role: "user", actor: "ana", content: "Write a post." },
  ]);
}
