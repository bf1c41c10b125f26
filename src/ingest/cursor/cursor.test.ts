import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CURSOR, CURSOR_EDITOR } from "./cursor.ts";

const LINES = fixture("cursor/transcript.jsonl");
const TEXT = fixture("cursor/transcript.txt");
const FOLDER = "/home/ana/.cursor/projects/srv-shop/agent-transcripts";

async function read(content: string, path: string) {
  const { sessions, problems } = await readWith(CURSOR, content, { path });
  return { session: sessions[0]?.session, entries: sessions[0]?.entries ?? [], problems };
}

describe("transcripts of the agent", () => {
  const expected = [
    "line-1 user: Fix the clock.",
    "line-2 assistant: [Read] I look.",
    "line-3 tool: [failed]",
    "line-4 assistant: It ticks twice.",
    "line-5 custom:",
  ];

  test("in lines are messages with their tools", async () => {
    const { session, entries, problems } = await read(LINES, `${FOLDER}/c1/c1.jsonl`);
    expect(session).toMatchObject({
      id: "c1",
      agent: "cursor",
      parentSession: null,
      metadata: { source: { fields: { project: "srv-shop" } } },
    });
    expect(outline(entries)).toEqual(expected);
    expect(entries[0]?.metadata).toMatchObject({
      source: { fields: { context: "<open_files>a.ts</open_files>" } },
    });
    expect(entries[1]?.blocks[1]).toMatchObject({ id: "line-2-1", input: '{"path":"clock.ts"}' });
    expect(problems).toMatchObject([{ line: 5, code: "unexpected", message: /turn_ended/ }]);
  });

  test("read one line at a time are the same", async () => {
    const steps = await readInSteps(CURSOR, LINES, { path: `${FOLDER}/c1/c1.jsonl` });
    expect(outline(steps)).toEqual(expected);
  });

  test("of sub-agents name the session that started them", async () => {
    const { session } = await read(LINES, `${FOLDER}/c1/subagents/s1.jsonl`);
    expect(session).toMatchObject({ id: "c1/agent-s1", parentSession: "c1" });
  });

  test("in plain text are read by their markers", async () => {
    const { session, entries, problems } = await read(TEXT, `${FOLDER}/c2.txt`);
    expect(session?.id).toBe("c2");
    expect(outline(entries)).toEqual([
      "message-0 user: Fix the clock.",
      "message-1 assistant: [thinking] [Read]",
      "message-1.1 tool: [result]",
      "message-1.2 assistant: It ticks twice.\n\n- once here",
      "message-2 assistant: Done.",
    ]);
    expect(entries[1]?.blocks).toMatchObject([
      { text: "Where is it?\n  In clock.ts." },
      { id: "message-1/call-0", input: '{"path":"clock.ts","limit":"10"}' },
    ]);
    expect(entries[2]?.blocks).toMatchObject([
      { toolUseId: "message-1/call-0", output: "tick()\n  tock()" },
    ]);
    expect(problems).toEqual([]);
  });

  test("in plain text exceed an entry without losing more than a long output", async () => {
    const output = `  ${"z".repeat(1021)}\n`.repeat(5 * 1024);
    const call = "[Tool call] Read\n  path: a.ts\n";
    const result = `[Tool result] Read\n${output}`;
    const answer = `${call}${call}${result}${result}${result}${output}Done.`;
    const text = `user:\nGo.\nassistant:\n${answer}\n`;
    const { entries, problems } = await read(text, `${FOLDER}/c3.txt`);
    expect(outline(entries)).toEqual([
      "message-0 user: Go.",
      "message-1 assistant: [Read] [Read]",
      "message-1.1 tool: [result]",
      "message-1.2 tool: [result] [result]",
      "message-1.3 assistant: Done.",
    ]);
    // Of twice 5 MiB, the first MiB was kept.
    const note = `\n[cut: ${9 * 1024 * 1024 - 1} more characters]`;
    const outputs = entries.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === "tool_result" ? [block] : [])),
    );
    expect(outputs.map(({ toolUseId, output: { length } }) => [toolUseId, length])).toEqual([
      ["message-1/call-0", 5 * 1024 * 1022 - 1],
      ["message-1/call-1", 5 * 1024 * 1022 - 1],
      ["message-1/unknown", 1024 * 1022 - 1 + note.length],
    ]);
    expect(String(outputs[2]?.output).endsWith(`z${note}`)).toBe(true);
    expect(problems).toMatchObject([{ line: 10251, code: "entry_cut" }]);
  });

  test("in plain text have results of any number of lines", async () => {
    const text = `assistant:\n[Tool result] Read\n${"  a\n".repeat(200_000)}`;
    const { entries } = await read(text, `${FOLDER}/c4.txt`);
    expect(entries[0]?.blocks).toMatchObject([{ output: "a\n".repeat(200_000).trim() }]);
  });

  test("are found by projects", () => {
    const [place] = CURSOR.places?.({ home: "/home/ana", variables: {}, platform: "linux" }) ?? [];
    expect(place?.matches("srv-shop/agent-transcripts/c1/c1.jsonl")).toBe(true);
    expect(place?.matches("srv-shop/terminals/1.txt")).toBe(false);
    expect(CURSOR.resumeCommand?.({ id: "c1", cwd: null })).toBe("cursor-agent --resume=c1");
  });
});

describe("the database of the editor", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  function makeDatabase(records: Record<string, unknown>, items: Record<string, unknown> = {}) {
    const folder = mkdtempSync(join(tmpdir(), "cursor-"));
    folders.push(folder);
    const path = join(folder, "state.vscdb");
    const database = new DatabaseSync(path);
    for (const [table, rows] of Object.entries({ cursorDiskKV: records, ItemTable: items })) {
      database.exec(`CREATE TABLE ${table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`);
      const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?)`);
      for (const [key, value] of Object.entries(rows)) {
        insert.run(key, typeof value === "string" ? value : Buffer.from(JSON.stringify(value)));
      }
    }
    database.close();
    return path;
  }

  const COMPOSER = {
    "composerData:k1": {
      _v: 10,
      composerId: "k1",
      name: "Clock",
      createdAt: 1000,
      lastUpdatedAt: 5000,
      status: "completed",
      context: { files: [] },
      fullConversationHeadersOnly: [
        { bubbleId: "b1", type: 1 },
        { bubbleId: "b2", type: 2 },
        { bubbleId: "b3", type: 2 },
        { bubbleId: "gone", type: 2 },
      ],
    },
    "bubbleId:k1:b1": { type: 1, text: "Fix it.", workspaceProjectDir: "/srv/shop", images: [] },
    "bubbleId:k1:b2": {
      type: 2,
      text: "",
      createdAt: "2026-01-02T03:04:05.000Z",
      unified: { mode: 2 },
      thinking: { text: "Hm.", signature: "sig" },
      toolFormerData: {
        toolCallId: "call-1",
        name: "read_file",
        rawArgs: '{"path": "a"}',
        status: "completed",
        result: '{"contents":"x"}',
        additionalData: { n: 1 },
      },
    },
    "bubbleId:k1:b3": {
      type: 2,
      text: "Done.",
      tokenCount: { inputTokens: 10, outputTokens: 3 },
      modelInfo: { modelName: "large-4" },
    },
    "composerData:k2": "{broken",
    "composerData:k3": { composerId: "k3", fullConversationHeadersOnly: [] },
  };

  test("gives conversations with their messages and tools", async () => {
    const { sessions, problems, state } = await readWith(CURSOR_EDITOR, "", {
      path: makeDatabase(COMPOSER),
    });
    expect(sessions.map(({ session }) => session)).toMatchObject([
      { source: "cursor", id: "k1", title: "Clock", cwd: "/srv/shop", startedAt: 1000 },
    ]);
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      "b1 user: Fix it.",
      "b2 assistant: [thinking] [read_file]",
      "b2/result tool: [result]",
      "b3 assistant: Done.",
    ]);
    expect(sessions[0]?.entries[1]).toMatchObject({
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      blocks: [{ signature: "sig" }, { id: "call-1", input: '{"path": "a"}' }],
      metadata: { source: { fields: { unified: { mode: 2 } } } },
    });
    expect(sessions[0]?.entries[3]).toMatchObject({
      model: "large-4",
      usage: { inputTokens: 10, outputTokens: 3 },
    });
    expect(problems.map(({ code }) => code)).toEqual(["missing_reference", "not_json"]);
    expect(state).toEqual({ since: 5000 });
  });

  test("gives changes since, and postpones incomplete answers", async () => {
    const since = { path: makeDatabase(COMPOSER), resume: { since: 5001 } };
    expect((await readWith(CURSOR_EDITOR, "", since)).sessions).toEqual([]);
    const { "composerData:k1": composer } = COMPOSER;
    const headers = composer.fullConversationHeadersOnly.slice(0, 3);
    const live = { ...composer, fullConversationHeadersOnly: headers, status: "generating" };
    const path = makeDatabase({ ...COMPOSER, "composerData:k1": live });
    const { sessions } = await readWith(CURSOR_EDITOR, "", { path });
    expect(sessions[0]?.entries).toHaveLength(3);
  });

  test("of earlier versions is complete with many messages", async () => {
    const said = (i: number) => `${i} ${"said ".repeat(400)}`;
    const conversation = Array.from({ length: 3_000 }, (_, i) => ({
      type: 1 + (i % 2),
      bubbleId: `b${i}`,
      text: said(i),
    }));
    const path = makeDatabase({ "composerData:o1": { conversation, createdAt: 1 } });
    const { sessions, problems } = await readWith(CURSOR_EDITOR, "", { path });
    expect(sessions[0]?.entries).toHaveLength(3_000);
    const texts = sessions[0]?.entries.map(({ blocks }) => (blocks[0] as { text: string }).text);
    expect(texts?.every((text, i) => text.trim() === said(i).trim())).toBe(true);
    expect(problems).toEqual([]);
  });

  test("of earlier versions has the messages in the record, or tabs", async () => {
    const old = { conversation: [{ type: 1, bubbleId: "x", text: "Hello." }], createdAt: 1 };
    const tabs = {
      tabs: [{ tabId: "t1", chatTitle: "Old", bubbles: [{ type: "ai", id: "y", rawText: "Hi." }] }],
    };
    const items = { "workbench.panel.aichat.view.aichat.chatdata": tabs };
    const path = makeDatabase({ "composerData:o1": old }, items);
    const { sessions } = await readWith(CURSOR_EDITOR, "", { path });
    expect(sessions.map(({ entries }) => outline(entries))).toEqual([
      ["x user: Hello."],
      ["bubble-0 assistant: Hi."],
    ]);
  });

  test("is recognised by its table, and found on each platform", () => {
    const head = readFileSync(makeDatabase(COMPOSER));
    expect(CURSOR_EDITOR.recognise(head, "")).toBe(true);
    const roots = [
      { home: "/home/ana", variables: {}, platform: "linux" },
      { home: "/Users/ana", variables: {}, platform: "darwin" },
      { home: "C:\\Users\\ana", variables: { APPDATA: "C:\\Data" }, platform: "win32" },
    ].map((environment) => CURSOR_EDITOR.places?.(environment)[0]?.root);
    expect(roots).toEqual([
      "/home/ana/.config/Cursor/User",
      "/Users/ana/Library/Application Support/Cursor/User",
      "C:\\Data/Cursor/User",
    ]);
  });
});
