import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { KIRO } from "./kiro.ts";
import { KIRO_DATABASE } from "./kiro-database.ts";

const ID = "0b7d9c1e-aaaa-4bbb-8ccc-123456789abc";
const LINES = fixture(`kiro/${ID}.jsonl`);
const META = {
  session_id: ID,
  cwd: "/srv/shop",
  created_at: "2026-05-04T10:00:00.290365Z",
  title: "Cron runs twice",
  parent_session_id: "98cb",
  session_created_reason: "subagent",
  session_state: { version: "v1" },
};
const options = {
  path: `/home/ana/.kiro/sessions/cli/${ID}.jsonl`,
  files: { [`${ID}.json`]: JSON.stringify(META) },
};
const EXPECTED = [
  "m-1 user: Why does the cron job run twice?",
  "m-2 assistant: [thinking] [shell] [read] I look.",
  "m-3 tool: [result] [failed]",
  "m-4 assistant: [opaque] The lock is of one machine.",
  "m-5 user: Thanks.",
  "m-6 custom:",
];

test("a session of Kiro has its folder, title, parent and time", async () => {
  const { sessions } = await readWith(KIRO, LINES, options);
  expect(sessions[0]?.session).toMatchObject({
    id: ID,
    source: "kiro",
    cwd: "/srv/shop",
    title: "Cron runs twice",
    parentSession: "98cb",
    startedAt: Date.UTC(2026, 4, 4, 10) + 290,
  });
});

test("has every message, thought, call and result, with the times of its requests", async () => {
  const { sessions, problems } = await readWith(KIRO, LINES, options);
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual(EXPECTED);
  expect(entries[1]).toMatchObject({ model: "claude-sonnet-4-5", createdAt: 1_777_888_800_000 });
  const parts = LINES.trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).data.content ?? []) as { kind: string }[];
  const count = (kind: string) => parts.filter((part) => part.kind === kind).length;
  const blocks = entries.flatMap((entry) => entry.blocks);
  const of = (type: string) => blocks.filter((block) => block.type === type);
  expect([of("text").length, of("tool_use").length, of("tool_result").length]).toEqual([
    count("text"),
    count("toolUse"),
    count("toolResult"),
  ]);
  expect(of("tool_result")[0]).toMatchObject({
    toolName: "shell",
    output: '{"exit_status":"0","stdout":"0 0 * * * job.sh"}',
  });
  expect(problems.map(({ code, line }) => [code, line])).toEqual([["unexpected", 6]]);
});

test("that grows is read from where the last reading ended", async () => {
  expect(outline(await readInSteps(KIRO, LINES, options))).toEqual(EXPECTED);
});

test("is found where KIRO_HOME says, and the database where the system keeps data", () => {
  const variables = { KIRO_HOME: "/k", XDG_DATA_HOME: "/d" };
  const environment = { home: "/home/ana", variables, platform: "linux" };
  const roots = [KIRO, KIRO_DATABASE].map((source) => source.places?.(environment)[0]?.root);
  expect(roots).toEqual(["/k/sessions/cli", "/d/kiro-cli"]);
  const mac = { home: "/Users/ana", variables: {}, platform: "darwin" };
  expect(KIRO_DATABASE.places?.(mac)[0]?.root).toContain("Application Support/kiro-cli");
});

const at = (second: number) => new Date(Date.UTC(2026, 4, 4, 10, 0, second)).toISOString();
const TURNS = [
  {
    user: { content: { Prompt: { prompt: "Why twice?" } }, timestamp: at(0) },
    assistant: {
      ToolUse: {
        message_id: "a-1",
        content: "I look.",
        tool_uses: [{ id: "t-1", name: "execute_bash", args: { command: "crontab -l" } }],
      },
    },
    request_metadata: { stream_end_timestamp_ms: Date.parse(at(2)), model_id: "claude-4" },
  },
  {
    user: {
      content: {
        CancelledToolUses: {
          prompt: "Stop.",
          tool_use_results: [{ tool_use_id: "t-1", content: [{ Text: "none" }], status: "Error" }],
        },
      },
      timestamp: null,
    },
    assistant: { Response: { message_id: null, content: "Stopped." } },
  },
];

test("a database of Kiro has its conversations, and those that changed are read again", async () => {
  const folder = createFolder();
  const path = join(folder, "data.sqlite3");
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL,
      value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      PRIMARY KEY (key, conversation_id));`);
  const put = (id: string, turns: readonly object[], updated: number, summary?: string) =>
    database
      .prepare("INSERT OR REPLACE INTO conversations_v2 VALUES ('/srv/shop', ?, ?, ?, ?)")
      .run(
        id,
        JSON.stringify({
          conversation_id: id,
          history: turns,
          ...(summary === undefined ? {} : { latest_summary: [summary, {}] }),
        }),
        Date.parse(at(0)),
        updated,
      );
  put("c-1", TURNS.slice(0, 1), 1);
  put("c-2", TURNS.slice(1), 2, "They found a lock.");
  const first = await readWith(KIRO_DATABASE, "", { path });
  expect(first.problems).toEqual([]);
  expect(first.sessions.map(({ session }) => [session.id, session.agent, session.cwd])).toEqual([
    ["c-1", "kiro", "/srv/shop"],
    ["c-2", "kiro", "/srv/shop"],
  ]);
  const said = first.sessions.map(({ entries }) =>
    outline(entries).map((line) => line.replace(/^[0-9a-f]{16} /, "")),
  );
  expect(said).toEqual([
    ["user: Why twice?", "a-1 assistant: [execute_bash] I look."],
    ["compaction: They found a lock.", "tool: [failed]", "user: Stop.", "assistant: Stopped."],
  ]);
  expect(first.sessions[0]?.entries[1]).toMatchObject({
    model: "claude-4",
    createdAt: Date.parse(at(2)),
  });
  put("c-1", TURNS, 3);
  database.prepare("INSERT INTO conversations VALUES ('/srv/old', ?)").run('{"history":[]');
  const resume = first.state ?? {};
  const { sessions, problems } = await readWith(KIRO_DATABASE, "", { path, resume });
  // Rows of the newest known time may have changed again.
  expect(sessions.map(({ session }) => session.id)).toEqual(["c-2", "c-1"]);
  const [, grown] = sessions;
  expect(grown?.entries.slice(0, 2).map(({ sourceId }) => sourceId)).toEqual(
    first.sessions[0]?.entries.map(({ sourceId }) => sourceId),
  );
  expect(outline(grown?.entries ?? [])).toHaveLength(5);
  expect(problems.map(({ code }) => code)).toEqual(["not_json"]);
  database.close();
});
