import { expect, test } from "vitest";
import { outline, type ReadingOptions, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { splitLines } from "../lines.ts";
import { GROK_BUILD } from "./grok-build.ts";

const FILE = fixture("grok-build/updates.jsonl");
const LINES = FILE.split(/(?<=\n)/);
const ID = "01990000-0000-7000-8000-000000000001";
const PATH = `/home/ana/.grok/sessions/%2Fsrv%2Fshop/${ID}/updates.jsonl`;

const SUMMARY = {
  info: { id: ID, cwd: "/srv/shop" },
  session_summary: "Why does the cron job",
  generated_title: "A cron job that runs twice",
  created_at: "2026-08-12T12:36:00Z",
  head_branch: "main",
  session_kind: "headless",
};
const CHECKPOINT = {
  compacted_history: [
    { type: "system", content: "You are Grok" },
    {
      type: "user",
      content: [{ type: "text", text: "This session is being continued.\n\nSummary:\nA timer." }],
    },
  ],
};
const FILES = {
  "summary.json": JSON.stringify(SUMMARY),
  "compaction_checkpoints/k1.json": JSON.stringify(CHECKPOINT),
};

async function read(content: string = FILE, options: ReadingOptions = {}) {
  const { sessions, ...rest } = await readWith(GROK_BUILD, content, {
    path: PATH,
    files: FILES,
    ...options,
  });
  return { session: sessions[0]?.session, entries: sessions[0]?.entries ?? [], ...rest };
}

/** Without the times in ids. */
function plain(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/event-(\d+)-\d+/g, "$1"));
}

test("updates are a conversation, with a withdrawn prompt as a branch", async () => {
  const { session, entries, problems, ignored } = await read();
  expect(session).toMatchObject({
    source: "grok-build",
    id: ID,
    title: "A cron job that runs twice",
    cwd: "/srv/shop",
    gitBranch: "main",
    startedAt: Date.parse("2026-08-12T12:36:00Z"),
    parentSession: null,
  });
  expect(plain(outline(entries))).toEqual([
    "1<null user: Why does the cron job run twice?",
    "4<1 assistant: [thinking] [run_terminal_command] [search_replace] I look.",
    "10-result<4 tool: [failed]",
    "11-result<10-result tool: [result]",
    "13<11-result custom:",
    "12<11-result assistant: A timer starts it.",
    "14-usage-1<12 custom:",
    "15<12 user: Remove the timer.",
    "16<15 assistant: Which one?",
    "17<16 custom:",
    "20<12 user: <system-reminder>1 subagent completed</system-reminder>",
    "21<20 assistant: The timer is gone.",
    "23<21 compaction: A timer.",
    "24<23 custom:",
  ]);
  expect(entries[1]?.blocks).toMatchObject([
    { text: "Two places may start it." },
    {},
    { input: '{"command":"crontab -l","n":12345678901234567890}' },
    {},
  ]);
  expect(entries[2]?.blocks).toMatchObject([{ toolUseId: "c1", output: "exit: 1\nno crontab\n" }]);
  expect(entries[10]?.metadata).toMatchObject({ injected: true });
  expect(problems).toMatchObject([{ line: 24, code: "unexpected" }]);
  expect([...ignored]).toEqual([
    ["hook_execution", 1],
    ["tool_call_update", 1],
    ["turn_completed", 2],
    ["model_changed", 1],
  ]);
});

test("the tokens of a turn are on its last answer, and counted once for each model", async () => {
  const { entries } = await read();
  const updates = LINES.map((line) => JSON.parse(line).params.update as Record<string, never>);
  const used = updates.flatMap(({ usage }) => (usage === undefined ? [] : [usage])) as {
    inputTokens: number;
    outputTokens: number;
  }[];
  const counted = entries.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  expect(sum(counted.map(({ outputTokens }) => outputTokens))).toBe(
    sum(used.map(({ outputTokens }) => outputTokens)),
  );
  const prompt = counted.map((usage) =>
    sum([usage.inputTokens, usage.cacheReadTokens, usage.cacheCreationTokens]),
  );
  expect(sum(prompt)).toBe(sum(used.map(({ inputTokens }) => inputTokens)));
  expect(entries.filter(({ usage }) => usage !== null)).toMatchObject([
    { model: "grok-4.5", usage: { inputTokens: 50, cacheReadTokens: 1900 }, cost: 0.09 },
    { model: "grok-code-fast", kind: "custom" },
    { model: "grok-5", usage: { inputTokens: 10 } },
  ]);
});

test("reading goes on after each complete message, and gives the same entries", async () => {
  const whole = (await read()).entries;
  const found = [];
  let resume: NonNullable<ReadingOptions["resume"]> | undefined;
  let start = 0;
  let resumed = 0;
  for (let end = 1; end <= LINES.length; end++) {
    const options = { linesBefore: start, ...(resume === undefined ? {} : { resume }) };
    const part = await read(LINES.slice(start, end).join(""), options);
    // In the middle of a message there is no state: the same lines are read again.
    if (part.state === undefined) continue;
    found.push(...part.entries);
    resume = JSON.parse(JSON.stringify(part.state));
    start = end;
    resumed++;
  }
  expect(found).toEqual(whole);
  expect(resumed).toBeGreaterThan(5);
});

test("an answer that is being written waits, unless the file has rested", async () => {
  const text = LINES.slice(0, 7).join("");
  const count = async (writtenAt: number) => {
    const files = {
      modifiedAt: async () => writtenAt,
      readText: async () => undefined,
      list: async () => [],
    } as never;
    const transcript = GROK_BUILD.read({
      path: PATH,
      lines: splitLines([Buffer.from(text)]),
      files,
    });
    let entries = 0;
    for await (const session of transcript.sessions) {
      for await (const _ of session.entries) entries++;
    }
    return [entries, transcript.isPostponed?.()];
  };
  expect(await count(Date.now())).toEqual([1, true]);
  expect(await count(Date.now() - 3_600_000)).toEqual([2, false]);
});

test("a sub-agent names its caller, whose turn has its tokens", async () => {
  const files = {
    "summary.json": JSON.stringify({ ...SUMMARY, session_kind: "subagent" }),
    [`../caller/subagents/${ID}/meta.json`]: "{}",
    "../other/summary.json": "{}",
  };
  const { session, entries } = await read(FILE, { files });
  expect(session?.parentSession).toBe("caller");
  expect(entries.filter(({ usage }) => usage !== null)).toEqual([]);
  const fork = { ...SUMMARY, parent_session_id: "origin" };
  const forked = await read(FILE, { files: { "summary.json": JSON.stringify(fork) } });
  expect(forked.session?.parentSession).toBe("origin");
  expect(forked.entries.find(({ kind }) => kind === "compaction")).toMatchObject({
    data: { unreadable: true },
  });
});

test("a resumed reading that takes back an unknown prompt reads the whole file", async () => {
  const { state } = await read(LINES.slice(0, 14).join(""));
  const records = { ...(state?.["records"] as object), prompts: [] };
  const resume = { ...state, records } as never;
  const transcript = GROK_BUILD.read({
    path: PATH,
    lines: splitLines([Buffer.from(LINES.slice(17).join(""))]),
    resume,
  });
  for await (const session of transcript.sessions) for await (const _ of session.entries);
  expect(transcript.isLost?.()).toBe(true);
});

test("places follow the variable", () => {
  const environment = { home: "/home/ana", variables: {}, platform: "linux" };
  const [place] = GROK_BUILD.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/.grok/sessions");
  expect(place?.matches(`%2Fsrv%2Fshop/${ID}/updates.jsonl`)).toBe(true);
  expect(place?.matches(`%2Fsrv%2Fshop/${ID}/chat_history.jsonl`)).toBe(false);
  expect(place?.skips?.(`%2Fsrv%2Fshop/${ID}/terminal`)).toBe(true);
  const moved = { ...environment, variables: { GROK_HOME: "/data/grok" } };
  expect(GROK_BUILD.places?.(moved)[0]?.root).toBe("/data/grok/sessions");
  expect(GROK_BUILD.resumeCommand?.({ id: ID, cwd: null })).toBe(`grok --resume ${ID}`);
});
