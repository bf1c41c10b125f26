import { expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import { splitLines } from "../lines.ts";
import { DROID } from "./droid.ts";

const FILE = fixture("droid/session.jsonl");
const ID = "7d1e0c1a-0000-4000-8000-000000000001";
const PATH = `/home/ana/.factory/sessions/-srv-shop/${ID}.jsonl`;

const OUTLINE = [
  "c0<null user: <system-reminder>The tools below …</system-reminder>",
  "u1<c0 user: Why does the cron job run twice?",
  "a1<u1 assistant: [thinking] [LS] I look.",
  "r1<a1 tool: [failed]",
  "a2<r1 assistant: The lock is gone.",
  "s1<a2 compaction: They found a lock.",
  "n1<s1 custom: Your limit is near.",
  "u2<s1 user: Mend it.",
  "a3<u2 assistant: Done.",
];

test("a session of Droid is a conversation, without its markers", async () => {
  const settings = JSON.stringify({ model: "m-1", tokenUsage: { inputTokens: 7 } });
  const files = { [`${ID}.settings.json`]: settings };
  const { sessions, problems, ignored } = await readWith(DROID, FILE, { path: PATH, files });
  expect(sessions[0]?.session).toMatchObject({
    source: "droid",
    id: ID,
    title: "Cron runs twice",
    cwd: "/srv/shop",
    startedAt: Date.UTC(2026, 4, 4, 10),
    parentSession: null,
    metadata: {
      source: { fields: { owner: "ana", settings: { tokenUsage: { inputTokens: 7 } } } },
    },
  });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual(OUTLINE);
  expect(entries[0]?.metadata).toMatchObject({ injected: true });
  expect(entries[1]?.metadata).toMatchObject({
    source: { fields: { context: "<system-reminder>Today is Monday.</system-reminder>" } },
  });
  expect(entries[2]).toMatchObject({ model: "m-1", createdAt: Date.UTC(2026, 4, 4, 10, 0, 2) });
  expect(JSON.stringify(entries[2]?.blocks)).toContain("12345678901234567890");
  expect(entries[3]?.blocks).toMatchObject([{ toolUseId: "k1", toolName: "LS", isError: true }]);
  expect(problems).toEqual([]);
  expect(Object.fromEntries(ignored)).toEqual({ hook: 1, todo_state: 1, agent_turn_outcome: 1 });
});

test("line-by-line reading gives the same session", async () => {
  expect(outline(await readInSteps(DROID, FILE, { path: PATH }))).toEqual(OUTLINE);
});

test("a sub-agent's session names its caller", async () => {
  const called = FILE.replace('"owner":"ana"', '"owner":"ana","callingSessionId":"p1"');
  const { sessions, source } = await readWhole(called, { path: "" });
  expect(source).toBe("droid");
  expect(sessions[0]?.session.parentSession).toBe("p1");
});

test("a resumed reading with an unknown reference asks for the whole file", async () => {
  const { state } = await readWith(DROID, FILE, { path: PATH });
  const line = FILE.trimEnd()
    .split("\n")
    .at(-1)
    ?.replace('"u2"', '"unknown"')
    .replace('"a3"', '"a4"');
  const read = DROID.read({
    path: PATH,
    lines: splitLines([Buffer.from(`${line}\n`)]),
    resume: state ?? {},
  });
  for await (const { entries } of read.sessions) for await (const _ of entries);
  expect(read.isLost?.()).toBe(true);
});

test("sessions lie in the home folder, or in the folder that a variable names", () => {
  const roots = (variables: Record<string, string>) =>
    DROID.places?.({ home: "/home/ana", variables, platform: "linux" }).map(({ root }) => root);
  expect(roots({})).toEqual(["/home/ana/.factory/sessions"]);
  expect(roots({ FACTORY_HOME_OVERRIDE: "/data/" })).toEqual(["/data/.factory/sessions"]);
});

test("a header may have nothing but its type: the file's name is the session's id", async () => {
  const [, ...rest] = FILE.split("\n");
  const bare = ['{"type":"session_start"}', ...rest].join("\n");
  const { sessions, source } = await readWhole(bare, { path: PATH });
  expect(source).toBe("droid");
  expect(sessions[0]?.session.id).toBe(ID);
  expect(DROID.recognise(Buffer.from(bare), "/tmp/copy.jsonl")).toBe(false);
  const named = bare.replace("}", ',"sessionId":"s-1"}');
  const read = await readWith(DROID, named, { path: PATH });
  expect(read.sessions[0]?.session.id).toBe("s-1");
});
