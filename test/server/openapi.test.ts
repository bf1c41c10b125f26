import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { ROUTES } from "../../src/server/routes/index.ts";
import { ROOT } from "../support/cli.ts";
import { freePort, waitUntilListening } from "./ports.ts";
import { ROUTE_CASES } from "./route-cases.ts";
import { createWorld, type World } from "./world.ts";

const BIN = join(ROOT, "node_modules", ".bin");

let world: World;
let proxy: ChildProcess;
let proxyUrl: string;
let folder: string;
let file: string;
let ids: Record<string, string>;
let said = "";

beforeAll(async () => {
  world = await createWorld();
  const session = await world.engine.forTenant("acme").getSession(world.ids["session"] ?? "");
  const second = await session.openMessage({ role: "assistant" });
  await second.detach();
  ids = { ...world.ids, second: second.id };
  folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  file = join(folder, "openapi.json");
  const document = await (await fetch(`${world.url}/v1/openapi.json`)).text();
  writeFileSync(file, document);
  const port = await freePort();
  proxyUrl = `http://127.0.0.1:${port}`;
  const words = ["proxy", file, world.url, "--errors", "-h", "127.0.0.1", "-p", String(port)];
  proxy = spawn(process.execPath, [join(BIN, "prism"), ...words], { stdio: "pipe" });
  proxy.stdout?.on("data", (part) => {
    said += part;
  });
  await waitUntilListening(port);
});
afterAll(async () => {
  proxy.kill();
  await world.close();
  rmSync(folder, { recursive: true });
});

test("/docs lists every operation, and nothing in it runs", async () => {
  const answer = await fetch(`${world.url}/docs`);
  expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; base-uri/);
  const html = await answer.text();
  const listed = [...html.matchAll(/<dt id="(\w+)">/g)].map(([, name]) => name);
  expect(listed.sort()).toEqual(ROUTES.map(({ operation }) => operation).sort());
  expect(html).not.toMatch(/<script|<style| on\w+=/);
});

test("the document lints clean", () => {
  const run = spawnSync(process.execPath, [join(BIN, "redocly"), "lint", file, "--format=json"], {
    encoding: "utf8",
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  const { totals, problems } = JSON.parse(run.stdout) as {
    totals: { errors: number; warnings: number };
    problems: unknown[];
  };
  expect([totals.errors, totals.warnings, problems]).toEqual([0, 0, []]);
});

describe("behind a proxy that checks every request and answer against the document", () => {
  /** Routes that need a language model; none is configured here. */
  const refused: Readonly<Record<string, number>> = { extractFacts: 503, generateTitle: 503 };
  const last = new Set([
    "deleteFact",
    "supersedeFact",
    "deleteSession",
    "compact",
    "revokeToken",
    "revokeShare",
  ]);
  const inOrder = [
    ...ROUTES.filter(({ operation }) => !last.has(operation)),
    ...ROUTES.filter(({ operation }) => last.has(operation)),
  ].map((route) => [`${route.method} ${route.path}`, route] as const);

  test.each(inOrder)("%s answers as documented", async (_name, route) => {
    const request = ROUTE_CASES[route.operation]?.(ids);
    if (request === undefined) throw new Error(`${route.operation} has no case`);
    const response = await fetch(proxyUrl + request.path, {
      method: route.method.toUpperCase(),
      headers: {
        authorization: `Bearer ${world.tokens.operator}`,
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...(request.bytes === undefined ? {} : { "content-type": "application/octet-stream" }),
        ...request.headers,
      },
      ...(request.bytes === undefined ? {} : { body: request.bytes }),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    const text = await response.text();
    expect(response.headers.get("sl-violations") ?? "").toBe("");
    expect([response.status, response.status < 300 ? "" : text]).toEqual([
      refused[route.operation] ?? route.answer.status,
      refused[route.operation] === undefined ? "" : expect.any(String),
    ]);
    // The proxy reports a violation as a problem of its own.
    expect(text).not.toContain("stoplight.io");
  });

  test("the typed client works as documented", async () => {
    const memory = await connect(proxyUrl, { token: world.tokens.operator, retries: 0 });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana", ttl: null });
    const [question] = await session.append([
      { role: "user", actor: "ana", content: "Why does the cron job run twice?" },
      {
        role: "assistant",
        actor: "coder",
        content: "The lock is gone.",
        toolCalls: [{ id: "c1", name: "ls", input: { path: "/" } }],
        toolResults: [{ id: "c1", output: "lock.ts" }],
        usage: { inputTokens: 10 },
      },
    ]);
    const edited = await session.edit(question?.id ?? "", "Why does cron run twice?");
    await session.branch(question?.id ?? null, { expectedLeaf: edited.id });
    const ranking = { roles: { user: 2, tool: 1, assistant: 1, system: 1 }, title: 4 };
    expect((await memory.searchSessions("cron", { ranking })).hits.length).toBeGreaterThan(0);
    const prune = { windowTokens: 1_000, limits: { trimRatio: 0.1 } };
    const built = await session.buildContext({ tokenBudget: 2_000, prune, provider: "anthropic" });
    expect(built.messages.length).toBeGreaterThan(0);
    const route = await memory.routes.put("agent:coder:typed", {
      create: { agent: "coder", createdBy: "ana", startedAt: 5_000 },
    });
    await memory.routes.patch(route.key, { subject: "x", room: null });
    expect(await memory.routes.ofSession(route.sessionId)).toHaveLength(1);
    expect((await memory.sessionStatus(route.sessionId)).key).toBe(route.key);
    await memory.routes.delete(route.key);
    expect(await memory.maintainSessions({ dryRun: true })).toMatchObject({ applied: false });
    await memory.putMemory({ agent: "coder", name: "lock", content: "Look at it." });
    expect(await memory.searchMemory("look")).toHaveLength(1);
    await session.addFacts([{ subject: "lock", predicate: "is", object: "gone" }]);
    expect((await session.summarize(undefined, { profile: "claw" })).kind).toBe("summary");
    expect(
      (await memory.listChanges({ after: "start", limit: 500 })).changes.length,
    ).toBeGreaterThan(20);
    expect((await memory.status()).tenants.length).toBeGreaterThan(1);
    expect((await memory.verify()).ok).toBe(true);
    expect((await session.delete()).entryCount).toBeGreaterThan(3);
    await memory.close();
  });

  test("errors are as documented too", async () => {
    const response = await fetch(`${proxyUrl}/v1/sessions/nothing`, {
      headers: { authorization: `Bearer ${world.tokens.reader}` },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get("sl-violations") ?? "").toBe("");
    expect(await response.json()).toMatchObject({ code: "session_not_found" });
  });

  test("the proxy itself refuses violations", async () => {
    expect(said).toContain("Prism is listening");
    const wrong = await fetch(`${proxyUrl}/v1/search`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${world.tokens.reader}`,
      },
      body: JSON.stringify({ wrong: true }),
    });
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain("stoplight.io");
  });
});
