import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { accessAround } from "../files/file-access.ts";
import { splitLines } from "../lines.ts";
import { ANTIGRAVITY, ANTIGRAVITY_IDE } from "./antigravity.ts";

const FILE = fixture("antigravity/transcript_full.jsonl");
const LINES = FILE.trimEnd().split("\n");
const ID = "0c9d6f0e-6a51-4f0c-9e6b-2b1a7a1f0001";
const LOGS = `brain/${ID}/.system_generated/logs`;
const PATH = `/home/ana/.gemini/antigravity-cli/${LOGS}/transcript_full.jsonl`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test("a log is a conversation, and each result answers its call", async () => {
  const { sessions, problems, ignored } = await readWith(ANTIGRAVITY, FILE, { path: PATH });
  const { session, entries = [] } = sessions[0] ?? {};
  expect(session).toMatchObject({ source: "antigravity", id: ID, startedAt: 1791540000000 });
  expect(outline(entries)).toEqual([
    "step-0 user: Why does the cron job run twice?",
    "step-2 system: Prefer the most specific tool.",
    "step-3 assistant: [thinking] [run_command] [list_dir] I look.",
    "step-5 tool: [result]",
    "step-6 tool: [failed]",
    "step-7 compaction: {{ CHECKPOINT 0 }}\n# USER Objective:\nA cron job that runs twice",
    "step-8 custom_message: The following changes were made by the USER to: /etc/cron.d/shop.",
    "step-9 assistant: [view_file]",
    "step-10 tool: [failed]",
    "step-11 assistant: [mcp_fetch]",
    "step-12 tool: [result]",
    "step-13 system: Task finished.",
    "step-15 custom: Something new.",
    "step-16 assistant: Both /etc/cron.d/shop and a timer start it.",
  ]);
  expect(entries[0]?.metadata).toMatchObject({
    source: { fields: { context: expect.stringContaining("<ADDITIONAL_METADATA>") } },
  });
  expect(entries[3]).toMatchObject({ actor: "list_dir", blocks: [{ toolUseId: "step-3-1" }] });
  expect(entries[4]).toMatchObject({ actor: "run_command", blocks: [{ toolUseId: "step-3-0" }] });
  expect(entries[7]?.blocks).toMatchObject([{ input: '{"AbsolutePath":12345678901234567890}' }]);
  expect(entries[10]).toMatchObject({
    actor: "mcp_fetch",
    metadata: { source: { fields: { status: "RUNNING", type: "GENERIC" } } },
  });
  expect(problems).toMatchObject([{ line: 15, code: "unexpected" }]);
  expect([...ignored]).toEqual([
    ["CONVERSATION_HISTORY", 1],
    ["PLANNER_RESPONSE without content", 1],
  ]);
});

test("texts, calls, models and tokens are those of the lines", async () => {
  const { entries = [] } = (await readWith(ANTIGRAVITY, FILE, { path: PATH })).sessions[0] ?? {};
  const steps = LINES.map((line) => JSON.parse(line) as Record<string, unknown>);
  const answers = steps.filter(
    ({ type, status }) => type === "PLANNER_RESPONSE" && status === "DONE",
  );
  const said = entries.filter(({ role }) => role === "assistant");
  expect(said.map(({ usage }) => usage?.inputTokens)).toEqual(
    answers.map((step) => step["input_tokens"]),
  );
  expect(said.map(({ usage }) => usage?.cacheReadTokens)).toEqual(
    answers.map((step) => step["cache_read_tokens"]),
  );
  expect(said.map(({ blocks }) => blocks.filter(({ type }) => type === "tool_use").length)).toEqual(
    answers.map((step) => (step["tool_calls"] as unknown[] | undefined)?.length ?? 0),
  );
  expect(new Set(said.map(({ model }) => model))).toEqual(new Set(["Gemini 3.5 Flash (High)"]));
  const read = await readInSteps(ANTIGRAVITY, FILE, { path: PATH });
  expect(read).toEqual(entries);
});

test("the shorter log gives the same arguments, and the steps that the full one has lost", async () => {
  const short = LINES.map((line) => {
    const step = JSON.parse(line) as { tool_calls?: { args: Record<string, unknown> }[] };
    for (const call of step.tool_calls ?? []) {
      const pairs = Object.entries(call.args);
      call.args = Object.fromEntries(pairs.map(([name, value]) => [name, JSON.stringify(value)]));
    }
    return JSON.stringify(step);
  });
  const files = { "transcript.jsonl": short.join("\n"), "transcript_full.jsonl": "" };
  const whole = await readWith(ANTIGRAVITY, LINES.slice(0, 5).join("\n"), { path: PATH });
  const cut = await readWith(ANTIGRAVITY, LINES[4] ?? "", { path: PATH, files });
  const entries = cut.sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual(outline(whole.sessions[0]?.entries ?? []));
  expect(entries.map((entry) => entry.blocks)).toEqual(
    whole.sessions[0]?.entries.map((entry) => entry.blocks),
  );
  expect(entries.map(({ isShortened }) => isShortened === true)).toEqual([true, true, true, false]);
  expect(cut.problems).toMatchObject([{ message: /^steps 0 to 4 / }]);
  // On its own it is a copy.
  const path = PATH.replace("_full", "");
  const copy = await readWith(ANTIGRAVITY, short.join("\n"), { path, files });
  expect(copy.sessions).toEqual([]);
  expect([...copy.ignored.keys()]).toEqual(["copy of transcript_full.jsonl"]);
});

test("title, folder and parent are in the database of all conversations", async () => {
  const root = mkdtempSync(join(tmpdir(), "antigravity-"));
  folders.push(root);
  const path = join(root, "antigravity-ide", LOGS, "transcript_full.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, FILE);
  const database = new DatabaseSync(join(root, "antigravity-ide/conversation_summaries.db"));
  database.exec(`CREATE TABLE \`conversation_summaries\` (\`conversation_id\` text, \`title\` text,
    \`workspace_uris\` text NOT NULL, \`parent_conversation_id\` text, \`agent_name\` text)`);
  database
    .prepare("INSERT INTO conversation_summaries VALUES (?, 'Cron job', ?, 'p1', '')")
    .run(ID, '["file:///c:/Users/ana/my%20shop"]');
  database.close();
  const lines = splitLines([Buffer.from(FILE)]);
  const files = accessAround(path, root);
  const { sessions } = ANTIGRAVITY_IDE.read({ path, lines, files });
  for await (const { entries: _, ...session } of sessions) {
    expect(session).toMatchObject({
      source: "antigravity-ide",
      title: "Cron job",
      cwd: "c:/Users/ana/my shop",
      parentSession: "p1",
    });
  }
  expect.assertions(1);
});

test("an encrypted conversation is counted, unless it has a log", async () => {
  const path = `/home/ana/.gemini/antigravity/conversations/${ID}.pb`;
  const head = Buffer.from([200, 1, 2, 3]);
  expect([ANTIGRAVITY.recognise(head, path), ANTIGRAVITY_IDE.recognise(head, path)]).toEqual([
    false,
    true,
  ]);
  const lost = await readWith(ANTIGRAVITY_IDE, head, { path, files: {} });
  expect(lost.problems).toMatchObject([{ code: "unreadable" }]);
  const files = { [`../${LOGS}/transcript.jsonl`]: "" };
  const known = await readWith(ANTIGRAVITY_IDE, head, { path, files });
  expect([known.problems, [...known.ignored]]).toEqual([[], [["encrypted copy of a log", 1]]]);
});

test("the command line and the editors have places of their own", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [line] = ANTIGRAVITY.places?.(environment) ?? [];
  const [editor] = ANTIGRAVITY_IDE.places?.(environment) ?? [];
  expect([line?.root, editor?.root]).toEqual(["/home/ana/.gemini", "/home/ana/.gemini"]);
  const path = `${LOGS}/transcript_full.jsonl`;
  const found = ["antigravity-cli", "antigravity", "antigravity-ide", "tmp"].map((folder) =>
    [line, editor].map((place) => place?.matches(`${folder}/${path}`)),
  );
  expect(found).toEqual([
    [true, false],
    [false, true],
    [false, true],
    [false, false],
  ]);
  for (const part of ["antigravity-cli", `antigravity-cli/${LOGS}`]) {
    expect([line?.skips?.(part), editor?.skips?.(part)]).toEqual([false, true]);
  }
  expect(line?.skips?.(`antigravity-cli/${LOGS}/chunks`)).toBe(true);
  expect(line?.skips?.("antigravity-cli/log")).toBe(true);
  expect(ANTIGRAVITY.resumeCommand?.({ id: ID, cwd: null })).toBe(`agy --conversation ${ID}`);
});
