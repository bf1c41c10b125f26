import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/commands/index.ts";
import type { Engine } from "../src/engine/engine.ts";
import { open } from "../src/open.ts";
import { compatibleModel } from "../src/providers/language-model.ts";
import { openServer, type RunningServer } from "../src/server/serve.ts";
import { callCli, environmentOf, type Ran, ROOT } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";
import { callFull, connectStdio } from "./support/mcp-client.ts";
import { type ModelServer, says, startModelServer } from "./support/model-server.ts";
import { createNormalizer } from "./support/normalize-json.ts";

/**
 * Every command against a server and against a file, in two copies of one world. Their JSON is
 * equal, except for generated ids, times, hashes and sizes.
 */

const folder = mkdtempSync(join(tmpdir(), "backscroll-remote-"));
const SESSION = "01JZ8Q4V7N";
const KEY = "agent:coder:telegram:direct:a/b";
let server: RunningServer;
let engine: Engine;
let model: ModelServer;
let entries: string[] = [];
let fact = "";
let reader = "";

/** Commands without a meaning at a server. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  serve: "serves a store that it has opened; in front of a server it would be a proxy",
  restore: "fills a store that nobody uses: docs/decisions has why a server's is not",
  embed: "makes vectors with an embedder of this process; a server has its own",
  open: "opens the page of a server, and has no end where it starts one",
  "tenant delete": "deletes tenants that no token of a server can name",
  trust: "is about this machine",
  schema: "opens no store",
  completions: "is about the command line alone",
  version: "is about the command line alone",
  setup: "edits files of agents on this machine, whatever --db says",
  hub: "serves agents of this machine",
  blame: "asks git of the working folder; test/blame.test.ts has it behind a server",
  share: "prints a link with a secret; test/server/insights.test.ts has its routes",
  pick: "reads the keys of a terminal; it is made of calls that are compared elsewhere",
  pr: "asks git of the working folder; it is made of calls that are compared elsewhere",
  "unasked on": "edits the configuration of this machine",
  "unasked note": "edits the configuration of this machine",
  "unasked off": "edits the configuration of this machine",
  "unasked no": "needs something that was said to an agent of this machine",
  demo: "makes a store of its own in the temporary folder, whatever --db says",
};

/** Commands with separate tests below. */
const TRIED_BELOW: Readonly<Record<string, string>> = {
  watch: "has no end",
  mcp: "speaks a protocol",
  backup: "makes a file",
  "token create": "prints a secret",
  "token list": "needs a token that was made",
  "token revoke": "needs a token that was made",
};

/** Effective arguments of each command, in an order in which all succeed. */
function commandLines(): readonly (readonly [string, ...(readonly string[])])[] {
  const [question = "", answer = ""] = entries;
  return [
    ["status"],
    ["search", "lock", "--limit", "3"],
    ["recap", "--limit", "3"],
    ["related", SESSION],
    ["trace", "--command", "npm"],
    ["list", "--agent", "coder"],
    ["show", SESSION],
    ["show", SESSION, "--tree", "--limit", "2"],
    ["history", SESSION, "--limit", "2"],
    ["changes", "--limit", "3"],
    ["start"],
    ["hook", "claude-code"],
    ["unasked"],
    ["unasked log"],
    ["unasked preview"],
    ["unasked ask", "--start"],
    ["ingest", "chats"],
    ["ingest", "chats"],
    ["ingest", "chats", "--force", "--dry-run"],
    ["stats"],
    ["list"],
    ["resume", SESSION],
    ["new", "--agent", "coder", "--by", "ana", "--id", "made-here", "--metadata", '{"a":1}'],
    ["append", "made-here", "What was it?", "--actor", "ana", "--key", "k1"],
    [
      "append",
      "made-here",
      '[{"role":"user","content":"x","usage":{"input_tokens":3}}]',
      "--json-message",
    ],
    ["title", "made-here", "A title"],
    ["edit", SESSION, question, "acquireLock thrice?"],
    ["branch", SESSION, answer],
    // Long, because a compaction without gain is refused; twice, because one message is kept.
    ["append", SESSION, "acquireLock waits. ".repeat(100), "--actor", "ana"],
    ["append", SESSION, "Why?", "--actor", "ana"],
    ["label", SESSION, answer, "good"],
    ["pin", SESSION, answer],
    ["mark", `${SESSION}#0`, "--reason", "The number is wrong."],
    ["search", "lock"],
    ["mark", `${SESSION}#0`, "--undo"],
    ["fork", SESSION, "--by", "ana", "--id", "forked-here"],
    ["context", SESSION, "--budget", "500"],
    ["context", SESSION, "--budget", "500", "--provider", "openai-chat"],
    ["usage", SESSION],
    ["recall", SESSION, "lock"],
    ["compact", SESSION, "--keep", "messages=1", "--dry-run"],
    ["compact", SESSION, "--keep", "messages=1"],
    ["summarize", SESSION],
    ["summaries", SESSION],
    ["memory put", "coder", "new-note", "Look at the lock."],
    ["memory list"],
    ["memory search", "migrate"],
    ["memory get", "coder", "deploy-steps"],
    ["memory delete", "coder", "new-note"],
    ["facts add", SESSION, "ana", "likes", "tea"],
    ["facts list"],
    ["facts search", "favourite"],
    ["facts extract", SESSION],
    ["facts delete", fact],
    [
      "append",
      "made-here",
      "Always run the tests first.\nI prefer short answers.",
      "--actor",
      "ana",
    ],
    ["rules"],
    ["rules accept", "1"],
    ["rules reject", "2"],
    ["rules add", "--owner", "ana", "Never push on Fridays."],
    ["rules remove", "1"],
    ["rules"],
    ["export", "--all"],
    ["export", SESSION, "--format", "markdown"],
    ["routes set", KEY, SESSION, "--fields", '{"displayName":"Ana","sendPolicy":"deny"}'],
    ["routes set", KEY, "--fields", '{"sendPolicy":null}', "--expect-version", "2"],
    ["routes show", KEY],
    ["routes list"],
    ["sessions"],
    ["status", SESSION],
    ["maintain", "--dry-run"],
    ["maintain"],
    ["config"],
    ["routes delete", KEY],
    ["delete", "forked-here", "--yes"],
    ["forget", "made-here", "--yes"],
    ["incognito", "0f6a2c1e-8d4b-4c5a-9e8f-7b6a5c4d3e2f"],
    ["sweep"],
    ["sweep", "--all"],
    ["doctor", "--verify"],
    ["doctor", "--rebuild", "--tenant", "default"],
  ];
}

beforeAll(async () => {
  const world = join(folder, "world.db");
  ({ entries, fact, reader } = await createWorld(world));
  for (const name of ["file", "server"]) {
    copyFileSync(world, join(folder, `${name}.db`));
    mkdirSync(join(folder, name, "chats"), { recursive: true });
    const target = join(folder, name, "chats", "a.jsonl");
    copyFileSync(join(ROOT, "test/fixtures/claude-code/version-2.jsonl"), target);
  }
  model = await startModelServer();
  model.answer(says('[{"subject":"lock","predicate":"is","object":"gone"}]'));
  engine = await open(join(folder, "server.db"), {
    models: { default: compatibleModel({ baseUrl: model.url, model: "example" }) },
  });
  server = await openServer(engine, { version: "0.0.0", port: 0 });
});

afterAll(async () => {
  await server.stop(100);
  await engine.close();
  await model.close();
  removeFolder(folder);
});

/** Each side has its own home with the same files. */
function environment(where: "file" | "server"): Record<string, string> {
  return {
    HOME: join(folder, where),
    WORKSTATION_ID: "w1",
    // The server's: times of resets are local to the process that answers.
    TZ: Intl.DateTimeFormat().resolvedOptions().timeZone,
    BACKSCROLL_DB: where === "file" ? join(folder, "file.db") : server.url,
    ...(where === "file" ? { BACKSCROLL_MODEL_URL: model.url, BACKSCROLL_MODEL: "example" } : {}),
  };
}

function cli(where: "file" | "server", args: readonly string[]): Promise<Ran> {
  return callCli(args, { cwd: join(folder, where), env: environment(where) });
}

test("every command is covered, or listed as an exception", () => {
  const run = new Set(commandLines().map(([name]) => name));
  const names = COMMANDS.map(({ name }) => name);
  const others = [...Object.keys(EXCEPTIONS), ...Object.keys(TRIED_BELOW)];
  expect(names.filter((name) => !run.has(name)).sort()).toEqual(others.sort());
});

test("every command prints the same for a server and a file", async () => {
  const normalize = {
    file: createNormalizer(join(folder, "file")),
    server: createNormalizer(join(folder, "server")),
  };
  for (const [name, ...rest] of commandLines()) {
    const args = [...name.split(" "), ...rest, "--json"];
    const [ofFile, ofServer] = await Promise.all([cli("file", args), cli("server", args)]);
    const shown = (where: "file" | "server", { code, stdout, stderr }: Ran) => ({
      code,
      stdout: normalize[where](stdout),
      stderr: normalize[where](stderr),
    });
    expect(shown("server", ofServer), args.join(" ")).toEqual(shown("file", ofFile));
    const isEmpty = ["related", "resume", "trace", "unasked ask"].includes(name);
    expect(ofFile.code, `${args.join(" ")}: ${ofFile.stderr}`).toBe(isEmpty ? 1 : 0);
  }
});

describe("commands that run until interrupted", () => {
  test("watch stores transcripts at a server, as agents write them", async () => {
    const home = join(folder, "server");
    const place = join(home, ".claude", "projects", "-p");
    mkdirSync(place, { recursive: true });
    const child = start(["watch", "--json"]);
    const target = join(place, "0b9b1c9e-1111-4222-8333-444455556666.jsonl");
    copyFileSync(join(ROOT, "test/fixtures/claude-code/version-1.jsonl"), target);
    const line = await firstLine(child);
    expect(JSON.parse(line)).toMatchObject({ how: "read", source: "claude-code" });
    expect(await stop(child)).toBe(0);
  });

  test("changes are followed at a server", async () => {
    const child = start(["changes", "--follow", "--after", "start", "--json"]);
    expect(JSON.parse(await firstLine(child))).toMatchObject({ kind: "session_created" });
    expect(await stop(child)).toBe(0);
  });
});

describe("commands that need the store itself", () => {
  test.each([
    ["restore", "copy.db"],
    ["serve", "--port=0"],
  ])("%s reports it, with the way out", async (...args) => {
    const ran = await cli("server", args);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/needs the store itself; .*run it (on the server's|where)/);
  });
});

describe("a backup of a server's store", () => {
  test("is a store with all of the server's data, and can be restored", async () => {
    const [copy, restored] = [join(folder, "copy.db"), join(folder, "restored.db")];
    const ran = await cli("server", ["backup", copy, "--json"]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    const { file, rows } = JSON.parse(ran.stdout) as { file: string; rows: number };
    expect([file, existsSync(`${copy}.partial`)]).toEqual([copy, false]);
    expect(statSync(copy).mode & 0o077).toBe(0);
    expect((await callCli(["restore", copy, "--db", restored, "--json"], {})).stdout).toContain(
      `"rows": ${rows}`,
    );
    const again = await open(restored, { readOnly: true, inThread: true });
    expect((await again.verify()).heads).toEqual((await engine.verify()).heads);
    await again.close();
  });

  test("overwrites nothing, and needs an operator", async () => {
    const taken = await cli("server", ["backup", join(folder, "file.db")]);
    expect([taken.code, taken.stderr]).toEqual([3, expect.stringContaining("name a new file")]);
    const env = { ...environment("server"), BACKSCROLL_TOKEN: reader };
    const refused = await callCli(["backup", join(folder, "no.db")], { env });
    expect([refused.code, existsSync(join(folder, "no.db.partial"))]).toEqual([6, false]);
  });
});

test("tokens are created, listed and revoked at a server", async () => {
  const made = await cli("server", ["token", "create", "--scope", "read", "--json"]);
  const { token, record } = JSON.parse(made.stdout) as { token: string; record: { id: string } };
  const env = { ...environment("server"), BACKSCROLL_TOKEN: token };
  expect((await callCli(["list"], { env })).code).toBe(0);
  const listed = await cli("server", ["token", "list", "--json"]);
  expect(listed.stdout).toContain(record.id);
  expect((await cli("server", ["token", "revoke", record.id])).code).toBe(0);
  expect((await callCli(["list"], { env })).code).toBe(6);
});

test("mcp serves a server's store to an agent", async () => {
  const { client, stderr } = await connectStdio("2025-11-25", [], { env: environment("server") });
  const { data } = await callFull(client, "search_sessions", { query: "lock" });
  expect(data.hits.length).toBeGreaterThan(0);
  await client.close();
  expect(stderr()).toBe("");
});

describe("a caller of a server", () => {
  test("is told that no server answers, with the address and without a secret", async () => {
    const ran = await callCli(["list", "--db", "http://127.0.0.1:1/", "--token", "s3cret"], {});
    expect(ran.code).toBe(5);
    expect(ran.stderr).toMatch(/the server at http:\/\/127\.0\.0\.1:1 does not answer/);
    expect(ran.stderr).not.toContain("s3cret");
    const wrong = await callCli(["list", "--db", "http://:s3cret@127.0.0.1:1"], {});
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.not.stringContaining("s3cret")]);
  });

  test("passes the token by option or environment", async () => {
    const env = environment("server");
    const asked = await callCli(["list", "--json"], {
      env: { ...env, BACKSCROLL_TOKEN: "s3cret" },
    });
    expect(asked.code).toBe(6);
    expect(JSON.parse(asked.stderr)).toMatchObject({ error: { code: "unauthorized" } });
    expect((await callCli(["list", "--token", "s3cret"], { env })).code).toBe(6);
  });

  test("sees its own tenant's status, if it may not see the store's", async () => {
    const env = { ...environment("server"), BACKSCROLL_TOKEN: reader };
    const ran = await callCli(["status", "--json"], { env });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      backend: null,
      address: server.url,
      tenants: [{ tenant: "default" }],
    });
    expect((await callCli(["status"], { env })).stdout).toMatch(/^Store +http:.*\nHolds +\d/);
    const refused = await callCli(["new", "--agent", "a", "--by", "ana"], { env });
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("scope write")]);
  });

  test("has the token's tenant, and no other", async () => {
    const ran = await cli("server", ["list", "--tenant", "acme"]);
    expect([ran.code, ran.stderr]).toEqual([6, expect.stringContaining("tenant default")]);
  });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(ROOT, "bin/backscroll.js"), ...args], {
    cwd: join(folder, "server"),
    env: environmentOf(environment("server")),
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function firstLine({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    stdout?.setEncoding("utf8").on("data", (data: string) => {
      text += data;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
  });
}

function stop(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.on("exit", (code) => resolve(code));
    child.kill("SIGINT");
  });
}

async function createWorld(
  file: string,
): Promise<{ entries: string[]; fact: string; reader: string }> {
  const store = await open(file, { inThread: true });
  const metadata = { facts: { enabled: true } };
  const session = await store.createSession({
    id: SESSION,
    agent: "coder",
    createdBy: "ana",
    metadata,
  });
  const added = await session.append([
    {
      role: "user",
      actor: "ana",
      content: "acquireLock twice? token=sk-live-0123456789abcdef0123",
    },
    {
      role: "assistant",
      actor: "coder",
      content: "The lock is gone.",
      model: "m",
      usage: { inputTokens: 10, outputTokens: 5 },
      toolCalls: [{ id: "t", name: "ls" }],
      toolResults: [{ id: "t", name: "ls", output: "lock.ts" }],
    },
    { role: "user", actor: "ana", content: "And who has it?" },
    { role: "assistant", actor: "coder", content: "Nobody.", model: "m" },
  ]);
  const [kept] = await session.addFacts([{ subject: "a", predicate: "favourite", object: "c" }]);
  await store.putMemory({ agent: "coder", name: "deploy-steps", content: "Migrate first." });
  const { token: reader } = await store.createToken({ scope: "read", actor: "ana" });
  await store.close();
  return { entries: added.map(({ id }) => id), fact: kept?.id ?? "", reader };
}
