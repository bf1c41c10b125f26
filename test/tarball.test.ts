import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT, run, runCli } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";
import { packInto, succeed } from "./support/packed.ts";
import { isStress } from "./support/repeats.ts";

/**
 * The packed package, installed into an empty folder with nothing beside it, and run on the
 * newest and the oldest supported Node.
 */

const OLDEST_NODE = join(ROOT, "node_modules/.cache/node-22.18.0/node_modules/node/bin/node");

const README = join(ROOT, "README.md");

const folder = mkdtempSync(join(tmpdir(), "backscroll-package-"));
const installed = join(folder, "node_modules", "backscroll");
const bin = join(installed, "bin", "backscroll.js");
let tarball = "";

beforeAll(async () => {
  tarball = await packInto(folder);
  mkdirSync(installed, { recursive: true });
  await succeed("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as object;
  // An application gets no second copy of anything.
  expect(manifest).not.toHaveProperty("dependencies");
});

afterAll(() => removeFolder(folder));

test("contains the built files and documents, and no sources", () => {
  const files = globSync("**/*", { cwd: installed }).filter((file) =>
    statSync(join(installed, file)).isFile(),
  );
  const top = new Set(files.map((file) => file.split("/")[0]));
  expect([...top].sort()).toEqual([
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "bin",
    "deploy",
    "dist",
    "docs",
    "package.json",
  ]);
  expect(files.filter((file) => /\.(test|cases)\.(?!d\.ts$)/.test(file))).toEqual([]);
  const licences = readFileSync(join(installed, "dist/LICENSES.txt"), "utf8");
  expect(licences).toMatch(/^zod [\d.]+\n\nMIT License/m);
  expect([...licences.matchAll(/^(\S+) \d+\.[\d.]+\n\n/gm)].map(([, name]) => name)).toEqual([
    "@hono/node-server",
    "@modelcontextprotocol/core",
    "@modelcontextprotocol/server",
    "@preact/signals",
    "@preact/signals-core",
    "diff",
    "dompurify",
    "highlight.js",
    "hono",
    "jsonc-parser",
    "marked",
    "preact",
    "smol-toml",
    "zod",
  ]);
  expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
});

describe.each([
  ["the development Node", process.execPath],
  ["the oldest supported Node", OLDEST_NODE],
])("on %s", (_name, node) => {
  const place = join(folder, `store-${node === OLDEST_NODE ? "oldest" : "newest"}`);
  const db = join(place, "library.db");

  test("is available", async () => {
    const hint = "run node scripts/setup.js --test, as npm test does";
    expect(existsSync(node), `${node} is missing: ${hint}`).toBe(true);
    if (node === OLDEST_NODE) expect((await run(node, ["-v"])).stdout).toBe("v22.18.0\n");
  });

  test("works as a library, on storage threads", async () => {
    const script = join(folder, "use-library.mjs");
    writeFileSync(script, LIBRARY_SCRIPT);
    const ran = await run(node, [script, db], { cwd: folder });
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toEqual({
      texts: ["Why does the cron job run twice?", "Because the lock is gone."],
      changes: ["entry_appended", "message_opened", "entry_appended"],
      verified: true,
      found: [1, 1, 1],
      code: "session_not_found",
    });
  });

  // On the newest Node test/docs.test.ts runs it.
  test.runIf(node === OLDEST_NODE || isStress)("runs README's program", async () => {
    const [, program = ""] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(README, "utf8")) ?? [];
    mkdirSync(place, { recursive: true });
    const script = join(place, "readme.mjs");
    writeFileSync(script, program);
    const ran = await run(node, [script], { cwd: place });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout).toContain("user: Why does the cron job run twice?");
  });

  test("works as a command, with an empty standard error", async () => {
    const cli = (...args: string[]) =>
      runCli(args, { node, bin, cwd: folder, env: { HOME: place } });
    const created = await cli("status", "--create");
    expect([created.code, created.stderr]).toEqual([0, ""]);
    expect(created.stdout).toContain(join(place, ".backscroll", "backscroll.db"));
    const listed = await cli("list", "--db", db, "--json");
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ message_count: 2 }] });
    const served = await cli("mcp", "--no-ingest", "--db", db);
    expect([served.code, served.stdout, served.stderr]).toEqual([0, "", ""]);
    // Only on the oldest Node: other tests run the build on the newest.
    if (node !== OLDEST_NODE && !isStress) return;
    const found = await cli("search", "cron", "--db", db);
    expect([found.code, found.stderr]).toEqual([0, ""]);
    const copied = await cli("backup", join(place, "copy.db"), "--db", db);
    expect([copied.code, copied.stderr]).toEqual([0, ""]);
    const verified = await cli("doctor", "--verify", "--db", join(place, "copy.db"));
    expect([verified.code, verified.stderr]).toEqual([0, ""]);
  });
});

test("what needs a package that is not installed says how to install it", async () => {
  const script = join(folder, "use-optional.mjs");
  writeFileSync(script, OPTIONAL_SCRIPT);
  const way = (name: string) => `npm install ${name} (with -g, if backscroll was installed so)`;
  expect(JSON.parse(await succeed(process.execPath, [script]))).toEqual([
    `invalid_input: PostgreSQL needs the package pg: ${way("pg")}`,
    `invalid_input: language models need the package ai: ${way("ai")}`,
  ]);
  const cli = await runCli(["list", "--db", "postgres://127.0.0.1:1/none"], { bin, cwd: folder });
  expect([cli.code, cli.stderr]).toEqual([
    2,
    `backscroll: PostgreSQL needs the package pg: ${way("pg")} (invalid_input)\n`,
  ]);
});

test("LangGraph's own serializer and error class are found beside the package", async () => {
  const frameworks = join(ROOT, "test/adapters/node_modules/@langchain");
  symlinkSync(frameworks, join(folder, "node_modules", "@langchain"));
  const script = join(folder, "use-langgraph.mjs");
  writeFileSync(script, LANGGRAPH_SCRIPT);
  expect(JSON.parse(await succeed(process.execPath, [script]))).toEqual({
    names: ["ana", "bo"],
    isSet: true,
    text: "Who hops?",
    isTheirs: true,
    code: "invalid_input",
  });
});

test("says in one line that Node is too old", async () => {
  const check = (ran: { code: number | null; stdout: string; stderr: string }) => {
    expect([ran.code, ran.stdout]).toEqual([78, ""]);
    expect(ran.stderr).toMatch(
      /^backscroll needs Node 22\.18 or newer; this is Node [\d.]+\. .*\n$/,
    );
  };
  for (const old of await findOldNodes()) check(await run(old, [bin, "status"]));
  // Everywhere: a Node that reports an older version.
  const pretend = `Object.defineProperty(process, "versions", { value: { node: "22.17.1" } });`;
  check(
    await run(process.execPath, ["--import", `data:text/javascript,${pretend}`, bin, "status"]),
  );
});

test("gives types to programs that compile against it", async () => {
  const source = join(folder, "consumer.ts");
  writeFileSync(source, CONSUMER);
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const options = [
    "--noEmit",
    // One checker: several would repeat the work on shared types.
    "--checkers",
    "1",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--lib",
    "es2024,esnext.disposable",
    "--types",
    "node",
    "--typeRoots",
    join(ROOT, "node_modules/@types"),
  ];
  const ran = await run(process.execPath, [tsc, ...options, source], { cwd: folder });
  expect(ran.stdout + ran.stderr).toBe("");
});

test("passes publint", async () => {
  const { messages } = await publint({ pkgDir: installed, pack: false, level: "warning" });
  expect(messages).toEqual([]);
});

// Slow: it loads another compiler and resolves every entry point four ways. The consumer above imports
// each of them and catches the likely failures.
test.runIf(isStress)("passes Are the types wrong", async () => {
  const attw = join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const ran = await run(process.execPath, [attw, tarball, "--profile", "esm-only"]);
  expect(ran.code, ran.stdout).toBe(0);
});

const LANGGRAPH_SCRIPT = `
import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, InvalidNamespaceError } from "@langchain/langgraph-checkpoint";
import { open } from "backscroll";
import { checkpointSaver, itemStore } from "backscroll/langgraph";

const memory = await open(":memory:");
const channel_values = { names: new Set(["ana", "bo"]), messages: [new HumanMessage("Who hops?")] };
const versions = { names: 1, messages: 1 };
const config = await checkpointSaver(memory).put(
  { configurable: { thread_id: "t", checkpoint_ns: "" } },
  { ...emptyCheckpoint(), channel_values, channel_versions: versions },
  { source: "input", step: -1, parents: {} },
  versions,
);
// Another one, which has nothing in memory.
const { checkpoint } = await checkpointSaver(memory).getTuple(config);
const { names, messages } = checkpoint.channel_values;
const refused = await itemStore(memory).put(["a.b"], "k", {}).catch((error) => error);
await memory.close();
console.log(
  JSON.stringify({
    names: [...names],
    isSet: names instanceof Set,
    text: messages[0].text,
    isTheirs: refused instanceof InvalidNamespaceError,
    code: refused.cause.code,
  }),
);
`;

const OPTIONAL_SCRIPT = `
import { open } from "backscroll";
import { compatibleModel } from "backscroll/models";

const model = compatibleModel({ baseUrl: "http://127.0.0.1:1/v1", model: "m" });
const calls = [open("postgres://127.0.0.1:1/none"), model.generate({ prompt: "?" })];
const why = await Promise.allSettled(calls);
console.log(JSON.stringify(why.map(({ reason }) => reason.code + ": " + reason.message)));
`;

const LIBRARY_SCRIPT = `
import { BackscrollError, open, textOf } from "backscroll";
import { memoryTools } from "backscroll/ai";

const memory = await open(process.argv[2]);
const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
const { next } = await memory.listChanges();
await session.append({ role: "user", actor: "ana", content: "Why does the cron job run twice?" });
const reply = await session.openMessage({ role: "assistant", actor: "coder" });
await reply.write("Because the lock ");
await reply.write("is gone.");
await reply.commit();
const { messages } = await session.listMessages();
const { changes } = await memory.listChanges({ after: next });
const { ok } = await memory.verify();
const failure = await memory.getSession("none").catch((error) => error);
const fromFeed = await memory.searchSessions("cron twice");
await memory.maintainIndex("flush");
const fromSegment = await memory.searchSessions("cron twice");
const other = await memory.createSession({ agent: "coder", createdBy: "ana" });
const recalled = await memoryTools(other).search_sessions.execute({ query: "cron" });
await other.delete();
await memory.close();
console.log(
  JSON.stringify({
    texts: messages.map((message) => textOf(message.blocks)),
    changes: changes.map((change) => change.kind),
    verified: ok,
    found: [fromFeed, fromSegment, recalled].map(({ hits }) => hits.length),
    code: BackscrollError.is(failure) ? failure.code : String(failure),
  }),
);
`;

const CONSUMER = `
import { type Entry, type ErrorCode, open, type Session } from "backscroll";
import { memoryTools } from "backscroll/ai";
import { connect } from "backscroll/client";
import { openGateway } from "backscroll/gateway";
import { ingest } from "backscroll/ingest";
import { openServer } from "backscroll/server";

export const entryPoints = [memoryTools, connect, openGateway, ingest, openServer] as const;

export async function use(): Promise<[Entry, Session, ErrorCode]> {
  const memory = await open("agent.db", { durability: "process" });
  const session = await memory.forTenant("acme").createSession({ agent: "coder", createdBy: "ana" });
  const entry = await session.append({ role: "user", content: [{ type: "text", text: "Hello" }] });
  return [entry, await session.meta(), "store_busy"];
}
`;

/** Unsupported older Nodes on this machine. */
async function findOldNodes(): Promise<string[]> {
  const places = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((place) => place !== "" && !place.includes("node_modules"))
    .map((place) => join(place, "node"))
    .filter((node) => existsSync(node));
  const old: string[] = [];
  for (const node of new Set(places)) {
    const [major = 0, minor = 0] = (await run(node, ["-p", "process.versions.node"])).stdout
      .split(".")
      .map(Number);
    if (major < 22 || (major === 22 && minor < 18)) old.push(node);
  }
  return old;
}
