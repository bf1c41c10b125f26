import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import type { TranscriptSource } from "../source.ts";
import { CLINE, KILO_CODE, ROO_CODE } from "./cline.ts";

const TASK = fixture("cline/api_conversation_history.json");
const ROO = fixture("cline/roo.json");
const PATH = "/x/saoudrizwan.claude-dev/tasks/1740000000000/api_conversation_history.json";
const KILO = fixture("cline/kilo.json");
const KILO_PATH = "/x/kilocode.kilo-code/tasks/k1/api_conversation_history.json";
const ROO_PATH = "/x/rooveterinaryinc.roo-cline/tasks/a1b2/api_conversation_history.json";

async function read(
  source: TranscriptSource,
  content: string,
  path: string,
  files: Record<string, unknown> = {},
) {
  const beside = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]);
  const options = { path, files: Object.fromEntries(beside) };
  const { sessions, problems } = await readWith(source, content, options);
  return { session: sessions[0]?.session, entries: sessions[0]?.entries ?? [], problems };
}

/** Without the part of an id that is a hash. */
function plain(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/(message-\d+)-[0-9a-f]{8}/g, "$1"));
}

describe("a task of Cline", () => {
  test("is a conversation without the editor's additions", async () => {
    const { session, entries, problems } = await read(CLINE, TASK, PATH);
    expect(session).toMatchObject({
      source: "cline",
      id: "1740000000000",
      cwd: "/srv/shop",
      startedAt: 1740000000000,
    });
    expect(plain(outline(entries))).toEqual([
      "message-0<null user: Add a test.",
      "message-1<message-0 assistant: [thinking] [read_file] I read.",
      "message-2/results<message-1 tool: [result]",
      "message-2<message-2/results user: Short, please.",
      "message-3<message-2 assistant: Done.",
    ]);
    expect(entries[0]?.metadata).toMatchObject({
      source: { fields: { context: expect.stringContaining("<environment_details>") } },
    });
    expect(entries[1]?.blocks[2]).toMatchObject({
      id: "toolu_1",
      input: '{"path":"a.ts","big":12345678901234567890}',
    });
    expect(entries[2]?.blocks).toMatchObject([{ toolName: "read_file", output: "export" }]);
    expect(problems).toMatchObject([{ code: "unexpected", message: /message 5/ }]);
  });

  test("gets title, times, models and usage from its companion files", async () => {
    const call = (ts: number, tokensIn: number) => ({
      ts,
      type: "say",
      say: "api_req_started",
      text: JSON.stringify({ request: "…", tokensIn, tokensOut: 5, cacheWrites: 2, cacheReads: 1 }),
    });
    const { session, entries } = await read(CLINE, TASK, PATH, {
      "ui_messages.json": [
        { ts: 1, type: "say", say: "text", text: "Add a test." },
        call(1000, 10),
        call(9000, 20),
      ],
      "task_metadata.json": {
        model_usage: [
          { ts: 1100, model_id: "large-4" },
          { ts: 8000, model_id: "small-4" },
        ],
      },
    });
    expect(session?.title).toBe("Add a test.");
    const answers = entries.filter(({ role }) => role === "assistant");
    expect(answers).toMatchObject([
      { createdAt: 1000, model: "large-4", usage: { inputTokens: 10, cacheCreationTokens: 2 } },
      { createdAt: 9000, model: "small-4", usage: { inputTokens: 20, cacheReadTokens: 1 } },
    ]);
  });

  test("keeps the usage of each answer, also if another's is unreadable", async () => {
    const usage = JSON.stringify({ tokensIn: 20, tokensOut: 5 });
    const call = (ts: number, text: string) => ({ ts, type: "say", say: "api_req_started", text });
    const { entries } = await read(CLINE, TASK, PATH, {
      "ui_messages.json": [call(1000, '{"request":"cut o'), call(9000, usage)],
    });
    const answers = entries.filter(({ role }) => role === "assistant");
    expect(answers).toMatchObject([
      { createdAt: 1000, usage: null },
      { createdAt: 9000, usage: { inputTokens: 20 } },
    ]);
  });

  test("that was reset continues as a branch", async () => {
    const [first, second] = JSON.parse(TASK) as object[];
    const other = { role: "assistant", content: "Another answer." };
    const before = await read(CLINE, JSON.stringify([first, second]), PATH);
    const after = await read(CLINE, JSON.stringify([first, other]), PATH);
    expect(after.entries[0]?.sourceId).toBe(before.entries[0]?.sourceId);
    expect(after.entries[1]?.sourceId).not.toBe(before.entries[1]?.sourceId);
    expect(after.entries[1]?.parentSourceId).toBe(before.entries[0]?.sourceId);
  });

  test("that is truncated, or not a list, gives no session", async () => {
    for (const content of [TASK.slice(0, 200), '{"a":1}', '"text"']) {
      const { session, problems } = await read(CLINE, content, PATH);
      expect([session, problems.length]).toEqual([undefined, 1]);
    }
  });
});

describe("a task of Roo Code", () => {
  test("has times, summaries, and tools whose results are text", async () => {
    const { session, entries, problems } = await read(ROO_CODE, ROO, ROO_PATH, {
      "history_item.json": {
        id: "a1b2",
        task: "Add a test.",
        workspace: "c:\\src\\shop",
        parentTaskId: "a0",
        tokensIn: 100,
      },
    });
    expect(session).toMatchObject({
      source: "roo-code",
      id: "a1b2",
      title: "Add a test.",
      cwd: "c:\\src\\shop",
      parentSession: "a0",
      metadata: { source: { fields: { tokensIn: 100 } } },
    });
    expect(plain(outline(entries))).toEqual([
      "message-1750000000000<null user: Add a test.",
      "message-1750000001000<message-1750000000000 assistant: [thinking] <read_file><path>a.ts</path></read_file>",
      "message-1750000002000<message-1750000001000 tool: [read_file for 'a.ts'] Result:\nexport",
      "message-1750000003000<message-1750000002000 compaction: They want a test.",
    ]);
    expect(entries[2]?.actor).toBe("read_file");
    expect(problems).toEqual([]);
  });

  test("without its item is identified by its folder and workspace", async () => {
    const { session } = await read(ROO_CODE, ROO, ROO_PATH);
    expect(session).toMatchObject({ id: "a1b2", cwd: "c:\\src\\shop" });
  });
});

test("a task of Kilo Code has the models that its editor showed", async () => {
  const text = JSON.stringify({ request: "…", tokensIn: 10, tokensOut: 5, cost: 0.02 });
  const { session, entries, problems } = await read(KILO_CODE, KILO, KILO_PATH, {
    "ui_messages.json": [
      { ts: 1, type: "say", say: "text", text: "Add a test." },
      { ts: 1760000001000, type: "say", say: "api_req_started", text },
    ],
    "task_metadata.json": { files_in_context: [] },
  });
  expect(session).toMatchObject({
    source: "kilo-code",
    id: "k1",
    title: "Add a test.",
    cwd: "/srv/shop",
  });
  expect(plain(outline(entries)).map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "user: Add a test.",
    "assistant: [read_file] I read.",
    "tool: [result]",
    "assistant: Done.",
  ]);
  const answers = entries.filter(({ role }) => role === "assistant");
  expect(answers).toMatchObject([
    { model: "z-ai/glm-4.5-air:free", usage: { inputTokens: 10 }, cost: 0.02 },
    { model: "large-4", usage: null },
  ]);
  expect(problems).toEqual([]);
});

test("tasks are found in every editor, and distinguished by extension", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [code] = ROO_CODE.places?.(environment) ?? [];
  expect(code?.root).toBe("/home/ana/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline");
  expect(code?.matches("tasks/a1/api_conversation_history.json")).toBe(true);
  expect(code?.matches("tasks/a1/ui_messages.json")).toBe(false);
  const moved = { ...environment, variables: { CLINE_DIR: "/data/cline" } };
  expect(CLINE.places?.(moved).at(-1)?.root).toBe("/data/cline/data");
  const head = Buffer.from(TASK);
  expect([CLINE.recognise(head, PATH), ROO_CODE.recognise(head, PATH)]).toEqual([true, false]);
  expect([CLINE, ROO_CODE, KILO_CODE].map((source) => source.recognise(head, KILO_PATH))).toEqual([
    false,
    false,
    true,
  ]);
  const kilo = KILO_CODE.places?.(environment).at(-1);
  expect(kilo?.root).toBe("/home/ana/.kilocode/cli/global");
  expect(kilo?.matches("tasks/k1/api_conversation_history.json")).toBe(true);
  expect([CLINE.recognise(head, ROO_PATH), ROO_CODE.recognise(head, ROO_PATH)]).toEqual([
    false,
    true,
  ]);
});
