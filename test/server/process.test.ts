import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import { callCli, ROOT, run } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";
import { callFull, connectHttp } from "../support/mcp-client.ts";
import { startNode } from "./node.ts";

const json = { "content-type": "application/json" };

test("starts, prints its address, keeps acknowledged writes, also in a copy, and exits with 0", async () => {
  const folder = createFolder();
  const [db, copy] = [join(folder, "store.db"), join(folder, "copy.db")];
  const node = await startNode(["--db", db]);
  onTestFinished(() => void node.child.kill("SIGKILL"));
  expect(await (await fetch(`${node.url}/readyz`)).json()).toEqual({ status: "ready" });
  const body = JSON.stringify({ agent: "coder", created_by: "ana", title: "Kept" });
  const made = await fetch(`${node.url}/v1/sessions`, { method: "POST", headers: json, body });
  expect(made.status).toBe(201);
  expect(await (await fetch(`${node.url}/docs`)).text()).toContain("/v1/sessions/{session_id}");
  // The copy has the newest acknowledged writes.
  const ran = await callCli(["backup", copy, "--db", node.url, "--json"], {});
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(await node.stop()).toBe(0);
  expect(node.stderr()).toBe("");
  for (const file of [db, copy]) {
    await using memory = await open(file, { inThread: true });
    expect((await memory.listSessions()).sessions).toMatchObject([{ title: "Kept" }]);
  }
});

test("acknowledged writes survive kill -9", async () => {
  const db = join(createFolder(), "store.db");
  const node = await startNode(["--db", db]);
  const body = JSON.stringify({ agent: "coder", created_by: "ana", id: "one" });
  await fetch(`${node.url}/v1/sessions`, { method: "POST", headers: json, body });
  const acknowledged: string[] = [];
  const writer = (async () => {
    for (let i = 0; ; i++) {
      const message = JSON.stringify({ messages: [{ role: "user", content: `message ${i}` }] });
      const answer = await fetch(`${node.url}/v1/sessions/one/messages`, {
        method: "POST",
        headers: json,
        body: message,
      });
      if (answer.status === 201) acknowledged.push(`message ${i}`);
    }
  })().catch(() => undefined);
  await expect.poll(() => acknowledged.length).toBeGreaterThan(50);
  expect(await node.stop("SIGKILL")).toBe("SIGKILL");
  await writer;
  await using memory = await open(db, { inThread: true });
  const { messages } = await memory.listMessages("one", { limit: 500 });
  const stored = messages.map(({ blocks }) => (blocks[0] as { text: string }).text);
  expect(stored.slice(0, acknowledged.length)).toEqual(acknowledged.slice(0, 500));
});

test("follows this machine's transcripts, and notifies MCP callers", async () => {
  const home = createFolder();
  const folder = join(home, ".claude", "projects", "-srv-shop");
  mkdirSync(folder, { recursive: true });
  const line = (n: number, text: string) =>
    `${JSON.stringify({
      type: "user",
      uuid: `u${n}`,
      parentUuid: n === 1 ? null : `u${n - 1}`,
      sessionId: "s1",
      cwd: "/srv/shop",
      timestamp: "2026-01-02T03:04:05.000Z",
      message: { role: "user", content: text },
    })}\n`;
  writeFileSync(join(folder, "s1.jsonl"), line(1, "the walrus sleeps"));
  const node = await startNode(["--db", join(home, "store.db"), "--watch"], { HOME: home });
  onTestFinished(() => void node.child.kill("SIGKILL"));
  const found = async (word: string) => {
    const answer = await fetch(`${node.url}/v1/search?q=${word}`);
    return ((await answer.json()) as { hits: unknown[] }).hits.length;
  };
  await expect.poll(() => found("walrus")).toBe(1);
  writeFileSync(join(folder, "s1.jsonl"), line(2, "the gecko wakes"), { flag: "a" });
  await expect.poll(() => found("gecko")).toBe(1);
  const client = await connectHttp(new URL(`${node.url}/mcp`), "2025-11-25");
  const { data } = await callFull(client, "search_sessions", { query: "gecko" });
  const id: string = data.hits[0].session_id;
  const status = await callFull(client, "get_session_meta", { session_id: id });
  expect(status.data).toMatchObject({ session: { id }, standing: { key: null, current: false } });
  await client.close();
  expect(await node.stop("SIGINT")).toBe(0);
});

test("explains invalid options in one line", async () => {
  const db = join(createFolder(), "store.db");
  for (const [words, field] of [
    [["--port", "x"], "--port"],
    [["--port", "70000"], "--port"],
    [["--log", "much"], "--log"],
    [["--allow-origin", "app.example"], "allow-origin"],
    [["--host", "203.0.113.7"], "host"],
    [["--rate-limit", "0"], "--rate-limit"],
  ] as const) {
    const ran = await callCli(["serve", "--db", db, "--json", ...words]);
    expect([ran.code, JSON.parse(ran.stderr)]).toMatchObject([
      2,
      { error: { code: "invalid_input", details: { field } } },
    ]);
  }
});

test("a server suggests a search only if there is something to find", async () => {
  const folder = createFolder();
  // Without `rm` the loop could read the previous server's output.
  const serve = `rm -f out
    "${process.execPath}" "${join(ROOT, "bin/backscroll.js")}" serve --port 0 > out &
    until grep -qs Ctrl-C out; do sleep 0.1; done; kill $!; wait $!; cat out`;
  const env = { HOME: folder, BACKSCROLL_DB: join(folder, "store.db") };
  const shown = async () => (await run("bash", ["-c", serve], { cwd: folder, env })).stdout;
  expect(await shown()).toMatch(/^Try .* demo$/m);
  await callCli(["new", "--agent", "a", "--by", "b"], { env });
  expect(await shown()).toMatch(/^Try .* search /m);
});

test("ends on a signal that arrives while it prints its address", async () => {
  const folder = createFolder();
  const hook = join(folder, "hook.mjs");
  writeFileSync(hook, SIGNAL_AT_FIRST_WRITE);
  const env = { HOME: folder, NODE_OPTIONS: `--import ${hook}` };
  const serve = [join(ROOT, "bin/backscroll.js"), "serve", "--port", "0", "--db", "store.db"];
  const ran = await run("timeout", ["60", process.execPath, ...serve], { cwd: folder, env });
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(ran.stdout).toContain("Ctrl-C stops it.");
});

const SIGNAL_AT_FIRST_WRITE = `
const { stdout } = process;
const { write } = stdout;
stdout.write = (...args) => {
  stdout.write = write;
  process.emit("SIGTERM", "SIGTERM");
  return stdout.write(...args);
};
`;
