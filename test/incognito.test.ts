/** Nothing of an incognito session is kept, whichever process reads its transcript. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { call, callFull, connectStdio, failure } from "./support/mcp-client.ts";
import { storedValues, tablesWith } from "./support/stored-values.ts";

const ID = "0000000a-0000-4000-8000-000000000000";
const OTHER = "0000000b-0000-4000-8000-000000000000";

let home: string;
let env: Record<string, string>;
beforeEach(() => {
  home = createFolder();
  env = { HOME: home, BACKSCROLL_DB: join(home, "x.db") };
});

const cli = (
  args: readonly string[],
  more: Record<string, string> = {},
  input = "",
): Promise<Ran> => callCli(args, { cwd: home, env: { ...env, ...more }, input });
const say = (id: string, text: string, turn = 1) => writeTurn(home, { id, cwd: home, text, turn });
const tables = (text: string) => tablesWith(join(home, "x.db"), text);

/** A sub-agent's file, in the folder of its session. */
function delegate(file: string, text: string): void {
  const line = JSON.parse(readFileSync(file, "utf8").split("\n")[0] ?? "");
  const folder = join(dirname(file), ID, "subagents");
  mkdirSync(folder, { recursive: true });
  const content = { ...line, uuid: "w-1", agentId: "1", isSidechain: true };
  content.message.content = text;
  writeFileSync(join(folder, "agent-1.jsonl"), `${JSON.stringify(content)}\n`);
}

test("a stored session is deleted, with its original, sub-agents and memories, and not stored again", async () => {
  const file = say(ID, "quagga one");
  delegate(file, "quagga of a sub-agent");
  say(OTHER, "marigold");
  await cli(["ingest"]);
  const { id } = JSON.parse((await cli(["show", ID, "--json"])).stdout).session;
  const metadata = JSON.stringify({ sessionId: id });
  await cli(["memory", "put", "coder", "note", "quagga two", "--metadata", metadata]);
  expect(tables("quagga")).toContain("original_parts");
  const ran = await cli(["incognito", ID.slice(0, 8)]);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toContain("2 sessions deleted");
  say(ID, "quagga three", 2);
  await cli(["ingest"]);
  await cli(["ingest", "--force"]);
  expect(tables("quagga")).toEqual([]);
  expect(tables(ID)).toEqual(["tombstones", "ingested_files"]);
  const totals = JSON.parse((await cli(["ingest", "--json"])).stdout).totals;
  expect(totals.ignored_by).toEqual({ incognito: 2 });
  expect((await cli(["export", "--all"])).stdout).toContain("marigold");
  // Whoever names the file takes it back.
  await cli(["ingest", file, "--force"]);
  const [, entries = []] =
    [...storedValues(join(home, "x.db"))].find(([name]) => name === "entries") ?? [];
  expect(entries.join()).toMatch(/quagga one.*quagga three/s);
});

test("a session that is not stored yet is marked by the agent's id, and by its environment's", async () => {
  expect(await cli(["incognito"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("CLAUDE_CODE_SESSION_ID"),
  });
  expect(await cli(["incognito", "0000000a"])).toMatchObject({ code: 1 });
  expect((await cli(["incognito"], { CLAUDE_CODE_SESSION_ID: ID })).code).toBe(0);
  expect((await cli(["incognito", OTHER, "--json"])).stdout).toContain('"deleted": 0');
  say(ID, "quagga");
  say(OTHER, "quagga");
  await cli(["ingest"]);
  expect(tables("quagga")).toEqual([]);
});

test("with BACKSCROLL=off a command stores nothing, and the hook marks its session", async () => {
  const transcript_path = say(ID, "quagga");
  const off = { BACKSCROLL: "off" };
  for (const command of ["ingest", "start"]) {
    const ran = await cli([command], off);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("BACKSCROLL is off")]);
  }
  const event = { hook_event_name: "SessionStart", source: "startup", session_id: ID, cwd: home };
  const input = JSON.stringify({ ...event, transcript_path });
  expect(await cli(["hook", "claude-code"], off, input)).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
  await cli(["ingest"]);
  expect(tables("quagga")).toEqual([]);
});

test("with BACKSCROLL=off the server only reads, and marks the session that its client names", async () => {
  say(ID, "quagga");
  say(OTHER, "marigold");
  await cli(["ingest"]);
  const { client, stderr } = await connectStdio("2025-11-25", [], {
    cwd: home,
    env: { ...env, BACKSCROLL: "off", CLAUDE_CODE_SESSION_ID: ID },
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("remember");
  say(OTHER, "tulip", 2);
  const found = await callFull(client, "search_sessions", { query: "tulip" });
  expect(found.data.hits).toEqual([]);
  await client.close();
  expect(stderr()).toBe("");
  expect(tables("quagga")).toEqual([]);
  expect(tables("tulip")).toEqual([]);
  say(ID, "quagga", 2);
  await cli(["ingest"]);
  expect(tables("quagga")).toEqual([]);
  expect(tables("tulip")).not.toEqual([]);
});

test("a model is told to keep nothing, and only of its own conversation", async () => {
  say(ID, "quagga");
  const args = ["--final-read", "0", "--no-ingest"];
  await cli(["ingest"]);
  const unnamed = await connectStdio("2025-11-25", args, { cwd: home, env });
  const input = { forget_conversation: true };
  expect((await failure(unnamed.client, "remember", input)).message).toContain("incognito SESSION");
  await unnamed.client.close();
  const { client } = await connectStdio("2025-11-25", args, {
    cwd: home,
    env: { ...env, CLAUDE_CODE_SESSION_ID: ID },
  });
  const other = await failure(client, "remember", { ...input, session_id: OTHER });
  expect(other.message).toContain("without other arguments");
  expect((await failure(client, "remember", {})).message).toContain("name is missing");
  const { data } = await call(client, "remember", input);
  expect(data).toMatchObject({ remembered: null, deleted_sessions: 1 });
  await client.close();
  say(ID, "quagga", 2);
  await cli(["ingest"]);
  expect(tables("quagga")).toEqual([]);
});
