import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { open } from "../src/open.ts";
import { environmentOf, ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { call, callFull, connectStdio, ERAS, failure } from "./support/mcp-client.ts";

/** `backscroll mcp` as agents start it: a process on standard input and output. */

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

describe.each(ERAS)("over standard input and output, protocol %s", (era) => {
  test("answers, notifies, and ends with its caller", async () => {
    const folder = createFolder();
    const db = join(folder, "store.db");
    await using memory = await open(db, { inThread: true });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", actor: "ana", content: "The cron lock is gone" });

    const { client, transport, stderr } = await connectStdio(era, ["--db", db, "--no-ingest"], {
      env: { HOME: folder },
    });
    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    expect((await client.listTools()).tools).toHaveLength(7);
    const found = await callFull(client, "search_sessions", { query: "cron" });
    expect(found.data.hits).toMatchObject([{ session_id: session.id }]);

    const uri = `session://${session.id}`;
    const told: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(params.uri);
    });
    if (era === "2025-11-25") {
      await expect(client.subscribeResource({ uri: "session://none" })).rejects.toThrow(/none/);
      await client.subscribeResource({ uri });
    } else await client.listen({ resourceSubscriptions: [uri] });
    // Written by another process than the notifying one.
    await session.append({ role: "assistant", actor: "coder", content: "Then it runs twice" });
    await expect.poll(() => told).toContain(uri);

    const pid = transport.pid;
    // It waits for two seconds: the process may end later.
    await client.close();
    const isRunning = () => {
      try {
        return process.kill(pid as number, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning).toBe(false);
    expect(stderr()).toBe("");
  });
});

test("a read-only caller gets no other tools, and the host names the author", async () => {
  const folder = createFolder();
  const db = join(folder, "store.db");
  const options = { env: { HOME: folder, BACKSCROLL_TENANT: "acme" } };
  const args = ["--db", db, "--no-ingest"];
  const reading = await connectStdio("2025-11-25", [...args, "--read-only"], options);
  expect((await reading.client.listTools()).tools).toHaveLength(6);
  const note = { name: "n", content: "c" };
  expect(await failure(reading.client, "remember", note)).toMatchObject({ code: "forbidden" });
  await reading.client.close();

  const writing = await connectStdio("2025-11-25", [...args, "--actor", "coder"], options);
  expect((await call(writing.client, "remember", note)).data).toMatchObject({ agent: "coder" });
  const other = await failure(writing.client, "remember", { ...note, agent: "eve" });
  expect(other).toMatchObject({ code: "forbidden" });
  await writing.client.close();
  await using memory = await open(db, { inThread: true });
  expect(await memory.forTenant("acme").getMemory("coder", "n")).toMatchObject({ content: "c" });
});

test("stores transcripts, leaves out the caller's session, and loads nothing unneeded", async () => {
  const folder = createFolder();
  const hooks = join(folder, "hooks.mjs");
  writeFileSync(hooks, LOADED);
  const loaded = join(folder, "loaded");
  const [here, there] = [join(folder, "here"), join(folder, "there")];
  mkdirSync(here);
  writeTranscript(folder, "mine", here, "the walrus is mine");
  writeTranscript(folder, "theirs", there, "the walrus is theirs");
  const db = join(folder, "store.db");
  const { client, stderr } = await connectStdio("2025-11-25", ["--db", db, "--final-read", "0"], {
    cwd: here,
    env: {
      HOME: folder,
      WORKSTATION_ID: "desk",
      CLAUDE_CODE_SESSION_ID: "mine",
      LOADED: loaded,
      NODE_OPTIONS: `--import ${hooks}`,
    },
  });
  const listed = async () =>
    (await callFull(client, "list_sessions")).data.sessions.length as number;
  await expect.poll(listed).toBe(2);
  await expect.poll(() => leasesIn(db)).toEqual(["ingest/default/desk"]);
  const { data } = await callFull(client, "search_sessions", { query: "walrus" });
  expect(data.hits).toMatchObject([{ window: [{ snippet: "the walrus is theirs" }] }]);
  expect(data.excluded_sessions).toHaveLength(1);
  await client.close();
  await expect.poll(() => leasesIn(db)).toEqual([]);
  expect(stderr()).toBe("");
  const packages = readFileSync(loaded, "utf8").matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g);
  // No web server, no language model, no database driver; the protocol's SDK is part of `dist`.
  expect([...new Set([...packages].map(([, name]) => name))]).toEqual([]);
});

/** Throws while a process that closes the store empties its write-ahead log: to be polled. */
function leasesIn(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare("SELECT name FROM leases WHERE name LIKE 'ingest/%'")
      .all()
      .map((row) => row["name"]);
  } finally {
    database.close();
  }
}

test("answers pending calls after its input ended", async () => {
  const folder = createFolder();
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/backscroll.js"), "mcp", "--db", join(folder, "store.db"), "--final-read", "0"],
    { env: environmentOf({ HOME: folder }), stdio: ["pipe", "pipe", "ignore"] },
  );
  let stdout = "";
  child.stdout.on("data", (text) => (stdout += String(text)));
  const params = { name: "search_sessions", arguments: { query: "cron" } };
  const lines = [
    INITIALIZE,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params },
    // The SDK drops requests that are no valid message.
    { jsonrpc: "2.0", id: 3, method: "tools/list", params: null },
    { jsonrpc: "2.0", id: "four", method: 4 },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: null },
  ];
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(new Map(answers.map(({ id, error }) => [id, error?.code]))).toEqual(
    new Map<unknown, unknown>([
      [1, undefined],
      [2, undefined],
      [3, -32600],
      ["four", -32600],
    ]),
  );
});

test("ends at SIGINT although its input stays open", async () => {
  const folder = createFolder();
  for (const variables of [{}, { BACKSCROLL_HUB: "off" }]) {
    const child = spawn(
      process.execPath,
      [join(ROOT, "bin/backscroll.js"), "mcp", "--db", join(folder, "s.db"), "--final-read", "1"],
      {
        env: environmentOf({ HOME: folder, ...variables }),
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const ended = new Promise((resolve) => child.once("exit", (...how) => resolve(how)));
    child.kill("SIGINT");
    expect([
      [0, null],
      [null, "SIGINT"],
    ]).toContainEqual(await ended);
  }
});

test("prints only the protocol, and exits with 0 when its input ends", async () => {
  const folder = createFolder();
  const lines = [INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" }];
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/backscroll.js"), "mcp", "--db", join(folder, "store.db"), "--final-read", "0"],
    { env: environmentOf({ HOME: folder }), stdio: ["pipe", "pipe", "pipe"] },
  );
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (text) => (stderr += String(text)));
  const answered = new Promise<void>((resolve) => {
    child.stdout.on("data", (text) => {
      stdout += String(text);
      if (stdout.includes('"id":1')) resolve();
    });
  });
  child.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await answered;
  child.stdin.end("no JSON\n");
  const code = await new Promise((resolve) => child.once("close", resolve));
  const said = stdout.trim().split("\n");
  for (const line of said) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  expect(code).toBe(0);
  for (const line of stderr
    .trim()
    .split("\n")
    .filter((each) => each !== "")) {
    expect(JSON.parse(line)).toMatchObject({ level: "error", code: "internal_error" });
    expect(line).not.toContain("no JSON");
  }
});

/** Logs the URL of every module that a process loads. */
const LOADED = `
import { registerHooks } from "node:module";
import { appendFileSync } from "node:fs";
const resolve = (specifier, context, next) => {
  const found = next(specifier, context);
  appendFileSync(process.env.LOADED, found.url + "\\n");
  return found;
};
registerHooks({ resolve });
`;

/** As Claude Code writes them, now. */
function writeTranscript(home: string, id: string, cwd: string, text: string): void {
  const file = join(home, ".claude", "projects", id, `${id}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const line = {
    type: "user",
    uuid: `${id}-1`,
    parentUuid: null,
    sessionId: id,
    cwd,
    isSidechain: false,
    userType: "external",
    version: "2.0.0",
    timestamp: new Date().toISOString(),
    message: { role: "user", content: text },
  };
  writeFileSync(file, `${JSON.stringify(line)}\n`);
}
