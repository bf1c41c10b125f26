import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { splitLines } from "../lines.ts";
import { AMP } from "./amp.ts";

const FILE = fixture("amp/thread.json");
const ID = "T-019a0001-0000-7000-8000-000000000001";
const PATH = `/home/ana/.local/share/amp/threads/${ID}.json`;

interface Thread {
  messages: { role: string; content?: { type: string }[]; usage?: { outputTokens: number } }[];
}

test("a thread is a conversation, with the work of a sub-agent as a branch", async () => {
  const { sessions, problems } = await readWith(AMP, FILE, { path: PATH });
  const { session, entries = [], leaf } = sessions[0] ?? {};
  expect(session).toMatchObject({
    source: "amp",
    id: ID,
    title: "A cron job that runs twice",
    cwd: "/srv/my shop",
    gitBranch: "main",
    repo: "git.example/acme/shop",
    startedAt: 1772241173221,
    metadata: { source: { fields: { v: 12, agentMode: "smart" } } },
  });
  expect(outline(entries)).toEqual([
    "message-0<null user: Why does the cron job run twice?",
    "message-1<message-0 assistant: [thinking] [Bash] [Read] [Task] I look.",
    "message-2<message-1 user: Look at the timers.",
    "message-3<message-2 assistant: There is one.",
    "message-4<message-1 tool: [failed] [failed] [result]",
    "message-5<message-4 custom_message: Ran `git status`\nclean",
    "message-6<message-5 compaction: A timer starts the job as well.",
    "message-7<message-6 custom:",
    "message-8<message-6 assistant: [opaque] The timer is gone.",
  ]);
  expect(leaf).toBe("message-8");
  expect(entries.map(({ metadata }) => metadata["sidechain"] === true)).toEqual(
    [2, 3].reduce((marks, at) => marks.with(at, true), Array(9).fill(false)),
  );
  expect(entries[1]?.blocks[2]).toMatchObject({
    input: '{"cmd":"crontab -l","n":12345678901234567890}',
  });
  expect(entries[4]?.blocks).toMatchObject([
    { toolName: "Bash", output: "no crontab", run: { exitCode: 1 } },
    { toolName: "Read", output: "not allowed" },
    { toolName: "Task", output: '[{"found":true}]' },
  ]);
  expect(problems).toMatchObject([{ code: "unexpected", message: /^message 8 / }]);
});

test("models, times and tokens are those of the answers", async () => {
  const { entries = [] } = (await readWith(AMP, FILE, { path: PATH })).sessions[0] ?? {};
  const { messages } = JSON.parse(FILE) as Thread;
  const answers = messages.filter(({ role }) => role === "assistant");
  const said = entries.filter(({ role }) => role === "assistant");
  expect(said.map(({ usage }) => usage?.outputTokens)).toEqual(
    answers.map(({ usage }) => usage?.outputTokens),
  );
  const results = entries.flatMap(({ blocks }) =>
    blocks.filter(({ type }) => type === "tool_result"),
  );
  expect(results).toHaveLength(
    messages.flatMap(({ content = [] }) => content.filter(({ type }) => type === "tool_result"))
      .length,
  );
  expect(said[0]).toMatchObject({
    model: "claude-opus-4-6",
    createdAt: Date.parse("2026-02-28T01:13:27.454Z"),
    usage: { inputTokens: 3, cacheCreationTokens: 1619, cacheReadTokens: 13248 },
  });
  // Input that OpenAI's models read for the first time is no write to a cache.
  expect(said[1]?.usage).toMatchObject({ inputTokens: 900, cacheCreationTokens: 0 });
});

test("a message that is being written is read once it is complete, or has rested", async () => {
  const thread = JSON.parse(FILE) as Thread;
  const streaming = { role: "assistant", messageId: 9, content: [], state: { type: "streaming" } };
  const running = {
    role: "user",
    messageId: 9,
    content: [{ type: "tool_result", toolUseID: "toolu_9", run: { status: "in-progress" } }],
  };
  for (const message of [streaming, running]) {
    const text = JSON.stringify({ ...thread, messages: [...thread.messages, message] });
    const read = async (writtenAt: number) => {
      const files = { modifiedAt: async () => writtenAt } as never;
      const transcript = AMP.read({ path: PATH, lines: splitLines([Buffer.from(text)]), files });
      let count = 0;
      for await (const { entries } of transcript.sessions) for await (const _ of entries) count++;
      return [count, transcript.isPostponed?.()];
    };
    expect(await read(Date.now())).toEqual([9, true]);
    expect(await read(Date.now() - 3_600_000)).toEqual([10, false]);
  }
});

test("threads are found where the command line and the extensions keep them", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [own, code] = AMP.places?.(environment) ?? [];
  expect(own?.root).toBe("/home/ana/.local/share/amp/threads");
  expect(code?.root).toBe("/home/ana/.config/Code/User/globalStorage/sourcegraph.amp/threads3");
  expect([own?.matches(`${ID}.json`), own?.matches("session.json")]).toEqual([true, false]);
  const moved = { ...environment, variables: { XDG_DATA_HOME: "/data" } };
  expect(AMP.places?.(moved)[0]?.root).toBe("/data/amp/threads");
  expect(AMP.resumeCommand?.({ id: ID, cwd: null })).toBe(`amp threads continue ${ID}`);
});
