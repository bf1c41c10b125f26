import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { fixture, importText } from "../../../test/support/transcripts.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Block } from "../../model/block.ts";
import { open } from "../../open.ts";
import { findTarget, RESUME_TARGETS } from "./targets.ts";
import { type NativeResult, writeNative, writeNew } from "./write-native.ts";

const NOW = Date.UTC(2026, 5, 1, 12);

async function talk(engine: TenantEngine): Promise<SessionHandle> {
  const session = await engine.createSession({
    agent: "claude-code",
    createdBy: "ana",
    title: "Tax",
  });
  const say = (role: "user" | "assistant" | "tool", content: Block[], model?: string) =>
    session.append({ role, content, ...(model === undefined ? {} : { model }) });
  await say("user", [{ type: "text", text: "Where is the wombat? 😀\n" }]);
  await say(
    "assistant",
    [
      { type: "thinking", text: "Look.", signature: "c2ln" },
      { type: "opaque", provider: "openai", json: '{"type":"reasoning","encrypted_content":"x"}' },
      { type: "text", text: "I look for the numbat." },
      { type: "tool_use", id: "t:1", name: "Bash", input: '{"id":9007199254740993}' },
      { type: "tool_use", id: "t2", name: "mcp/find", input: "no json" },
    ],
    "gpt-5",
  );
  await say("user", [{ type: "text", text: "Hurry." }]);
  await say("tool", [
    {
      type: "tool_result",
      toolUseId: "t:1",
      isError: true,
      output: [
        { type: "text", text: "quokka.txt" },
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
      ],
    },
  ]);
  await say("assistant", [{ type: "text", text: "It is in the bilby folder." }], "gpt-5");
  return session;
}

async function write(
  session: SessionHandle,
  name: string,
  folder: string,
): Promise<NativeResult & { readonly text: string }> {
  const result = await writeNative(session, findTarget(name), {
    environment: { home: folder, variables: {}, platform: "linux" },
    cwd: folder,
    now: NOW,
    temporaryFolder: folder,
    dryRun: name === "opencode",
  });
  return { ...result, text: result.file === null ? "" : readFileSync(result.file, "utf8") };
}

const FILES: Readonly<Record<string, RegExp>> = {
  "claude-code": /\.claude\/projects\/-[\w-]+\/[\w-]{36}\.jsonl$/,
  codex: /\.codex\/sessions\/2026\/06\/01\/rollout-2026-06-01T12-00-00-[\w-]{36}\.jsonl$/,
  pi: /\.pi\/agent\/sessions\/--.+--\/2026-06-01T12-00-00-000Z_[\w-]{36}\.jsonl$/,
  "qwen-code": /\.qwen\/projects\/-[\w-]+\/chats\/[\w-]{36}\.jsonl$/,
  "copilot-cli": /\.copilot\/session-state\/[\w-]{36}\/events\.jsonl$/,
  "kimi-code":
    /\.kimi-code\/sessions\/wd_[\w-]+_\w{12}\/session_[\w-]{36}\/agents\/main\/wire\.jsonl$/,
  "gemini-cli": /\.gemini\/tmp\/\w{64}\/chats\/session-2026-06-01T12-00-\w{8}\.jsonl$/,
};

const HOLD_RESULTS = /^(opencode|gemini-cli|qwen-code|copilot-cli|kimi-code)$/;

test.each(RESUME_TARGETS.map(({ name }) => name))(
  "a session round-trips through a file of %s, and parts sealed by other providers are counted",
  async (name) => {
    await using engine = await open(":memory:");
    const folder = createFolder();
    // Writing fails unless the reader of the format finds the same texts, calls and results.
    const result = await write(await talk(engine), name, folder);
    const counts = Object.fromEntries(result.losses.map(({ what, count }) => [what, count]));
    expect(counts).toMatchObject({
      "signatures of another provider": 1,
      "calls without a result, closed with a note": 1,
      "call ids and tool names written in another way": 2,
      ...(name === "codex" ? {} : { "sealed thoughts of another provider": 1 }),
      // The result itself, and the note for the call without one.
      ...(name === "codex" ? { "marks of failed results": 2 } : {}),
      ...(HOLD_RESULTS.test(name) ? { "pictures in results": 1 } : {}),
    });
    if (name !== "opencode") expect(result.file).toMatch(FILES[name] ?? /never/);
    expect(result.command).toContain(name === "pi" ? (result.file ?? "") : result.id);
    expect(result.text).not.toContain("c2ln");
  },
);

test("a message in one text names its pictures, and Kimi Code finds the session by its state", async () => {
  await using engine = await open(":memory:");
  const session = await engine.createSession({ agent: "claude-code", title: "Tax" });
  const picture = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
  await session.append({ role: "user", content: [{ type: "text", text: "See." }, picture] });
  for (const name of ["copilot-cli", "kimi-code"]) {
    const folder = createFolder();
    const { losses, text, file, id } = await write(session, name, folder);
    expect(losses).toEqual([{ what: "pictures", count: 1 }]);
    expect(text).toContain(JSON.stringify("See.\n\n[image]"));
    if (name !== "kimi-code") continue;
    const state = readFileSync(join(file ?? "", "../../../state.json"), "utf8");
    expect(JSON.parse(state)).toMatchObject({ id: `session_${id}`, cwd: folder, title: "Tax" });
  }
});

test("tool results follow the message with their calls", async () => {
  await using engine = await open(":memory:");
  const { text } = await write(await talk(engine), "codex", createFolder());
  const types = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; payload: { type: string; role?: string } })
    .filter(({ type }) => type === "response_item")
    .map(({ payload }) => payload.role ?? payload.type);
  expect(types).toEqual([
    "user",
    "reasoning",
    "assistant",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "user",
    "assistant",
  ]);
});

test.each(["claude-code", "codex", "pi", "gemini-cli", "qwen-code", "copilot-cli", "kimi-code"])(
  "a file written for %s is ingested as a fork: search finds its copies once, and only later messages are new",
  async (name) => {
    await using engine = await open(":memory:");
    const session = await talk(engine);
    const { text, file } = await write(session, name, createFolder());
    const path = file ?? "";
    const added = `${text}${next(name, text)}\n`;
    const { handle, result } = await importText(engine, added, { path });
    const meta = await handle.meta();
    const leaf = (await session.meta()).leaf;
    expect(meta).toMatchObject({ parentSessionId: session.id, forkPoint: leaf });
    const { entries } = await handle.listEntries({ limit: 100 });
    const own = entries.filter(({ copiedFrom, metadata }) => !copiedFrom && !metadata["injected"]);
    expect(own.filter(({ kind }) => kind === "message").map(({ blocks }) => blocks)).toEqual([
      [{ type: "text", text: "And the potoroo?" }],
    ]);
    for (const word of ["wombat", "numbat", "bilby", "quokka", "potoroo"]) {
      const { hits } = await engine.searchSessions(word, { perSession: 20 });
      expect(hits.map((hit) => hit.entryId).length, word).toBe(1);
    }
    expect((await importText(engine, added, { path })).result).toMatchObject({ entries: 0 });
    expect(result.problems).toBe(0);
    const report = await engine.verify();
    expect(report.ok).toBe(true);
  },
);

/** The agent's lines after the user continues. */
function next(name: string, text: string): string {
  const lines = text.trimEnd().split("\n");
  const last = JSON.parse(lines.findLast((line) => line.includes('"uuid"')) ?? lines.at(-1) ?? "");
  const timestamp = new Date(NOW + 1000).toISOString();
  const content = [{ type: "text", text: "And the potoroo?" }];
  const records: Readonly<Record<string, object>> = {
    "claude-code": {
      type: "user",
      uuid: "u-new",
      parentUuid: last.uuid,
      sessionId: last.sessionId,
      timestamp,
      message: { role: "user", content },
    },
    codex: {
      timestamp,
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ ...content[0], type: "input_text" }] },
    },
    pi: {
      type: "message",
      id: "p-new",
      parentId: last.id,
      timestamp,
      message: { role: "user", content, timestamp: NOW },
    },
    "qwen-code": {
      type: "user",
      uuid: "q-new",
      parentUuid: last.uuid,
      sessionId: last.sessionId,
      timestamp,
      message: { role: "user", parts: [{ text: "And the potoroo?" }] },
    },
    "copilot-cli": {
      type: "user.message",
      id: "c-new",
      parentId: last.id,
      timestamp,
      data: { content: "And the potoroo?" },
    },
    "kimi-code": {
      type: "context.append_message",
      message: { role: "user", content, id: "k-new", toolCalls: [], origin: { kind: "user" } },
      time: NOW + 1000,
    },
    "gemini-cli": { id: "g-new", timestamp, type: "user", content: "And the potoroo?" },
  };
  return JSON.stringify(records[name]);
}

test("a line with other content than the entry that it claims to copy is a new message", async () => {
  await using engine = await open(":memory:");
  const session = await talk(engine);
  const { text, file } = await write(session, "claude-code", createFolder());
  const { handle } = await importText(engine, text.replace("wombat", "dingo"), {
    path: file ?? "",
  });
  const [first, second] = (await handle.listEntries({ limit: 10 })).entries;
  expect([first?.copiedFrom, typeof second?.copiedFrom]).toEqual([null, "string"]);
});

test("a session of Codex keeps its encrypted thoughts in Codex, and drops Codex's injected text", async () => {
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, fixture("codex/current.jsonl"));
  const { text, losses } = await write(handle, "codex", createFolder());
  expect(text).not.toContain("<environment_context>");
  expect(losses).toContainEqual({
    what: "summarised messages",
    count: expect.any(Number),
  });
  const full = await writeNative(handle, findTarget("codex"), {
    environment: { home: createFolder(), variables: {}, platform: "linux" },
    full: true,
    cwd: createFolder(),
    now: NOW,
    temporaryFolder: "",
    dryRun: true,
  });
  expect(full.messages).toBeGreaterThan(5);
  const claude = await write(handle, "claude-code", createFolder());
  expect(claude.text).not.toContain("encrypted_content");
});

test("Codex's register lists the written session, unless its schema is unknown", async () => {
  await using engine = await open(":memory:");
  const session = await talk(engine);
  const folder = createFolder();
  await write(session, "codex", folder);
  const file = join(folder, ".codex/state_5.sqlite");
  const columns =
    "id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, title TEXT NOT NULL, cwd TEXT NOT NULL";
  const make = (more: string) => {
    const database = new DatabaseSync(file);
    database.exec(`DROP TABLE IF EXISTS threads; CREATE TABLE threads (${columns}${more})`);
    database.close();
  };
  make("");
  const { id, file: rollout, registered } = await write(session, "codex", folder);
  expect(registered).toBe(file);
  const database = new DatabaseSync(file);
  expect({ ...database.prepare("SELECT * FROM threads").get() }).toEqual({
    id,
    rollout_path: rollout,
    title: "Tax",
    cwd: folder,
  });
  database.close();
  make(", news TEXT NOT NULL");
  expect((await write(session, "codex", folder)).registered).toBeNull();
});

test("an existing file is never overwritten, and no temporary file is left", async () => {
  const folder = createFolder();
  const file = join(folder, "a.jsonl");
  writeFileSync(file, "mine");
  await expect(writeNew(file, "other")).rejects.toMatchObject({ code: "invalid_input" });
  expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["mine", ["a.jsonl"]]);
});

test("a session without messages, a missing folder and an unknown agent are refused", async () => {
  await using engine = await open(":memory:");
  const empty = await engine.createSession({ agent: "a", createdBy: "ana" });
  const folder = createFolder();
  await expect(write(empty, "codex", folder)).rejects.toThrow(/has no message to continue/);
  const gone = join(folder, "gone");
  await expect(write(await talk(engine), "codex", gone)).rejects.toThrow(/does not exist; .*--cwd/);
  expect(existsSync(join(folder, ".codex"))).toBe(false);
  expect(() => findTarget("vim")).toThrow(/known are claude-code, codex, pi, opencode, gemini-cli/);
});
