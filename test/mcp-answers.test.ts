import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { MessageInput } from "../src/engine/message-input.ts";
import { open } from "../src/open.ts";
import { call, callFull, connectHttp } from "./support/mcp-client.ts";
import { type McpHttp, startMcpHttp } from "./support/mcp-http.ts";

/** Answers for models, on sessions like those of coding agents. */

const DAY_MS = 86_400_000;
const PROJECT = "/home/ana/shop";

/** Noon, local time: "yesterday" is the same in every time zone, at any hour. */
const NOW = new Date(2026, 4, 6, 12).getTime();

let engine: Engine;
let http: McpHttp;
let client: Client;
/** Short ids. */
let fixed: string;
let older: string;
let long: string;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW - 3 * DAY_MS });
  engine = await open(":memory:");
  older = await talk("Read the cron job", [
    { role: "user", content: "What does the cron job do?" },
    ...callOf("Read", { file_path: `${PROJECT}/src/cron.ts` }, "1→export function lock() {}"),
    { role: "assistant", content: "It takes a lock." },
  ]);
  vi.setSystemTime(NOW - DAY_MS);
  fixed = await talk("Fix the cron lock", [
    { role: "user", content: "The cron job runs twice, fix it" },
    ...callOf("Bash", { command: "npm test 2>&1 | tail -5" }, "Error: database is locked", true),
    ...callOf(
      "Edit",
      { file_path: `${PROJECT}/src/cron.ts`, old_string: "a", new_string: "b" },
      "ok",
    ),
    ...callOf("Bash", { command: "ls src" }, "cron.ts"),
    ...callOf("Bash", { command: "npm test 2>&1 | tail -30" }, "all 12 tests pass"),
    { role: "assistant", content: "The lock is now taken before the job starts. All tests pass." },
  ]);
  for (let i = 0; i < 8; i++) {
    const content = `${i} zebra ${"A long answer about stripes and grass. ".repeat(60)}`;
    await talk(`Zebras ${i}`, [
      { role: "user", content: `Tell me about zebra ${i}. ${"Please. ".repeat(100)}` },
      { role: "assistant", content },
      { role: "user", content: "Thanks for the zebra" },
    ]);
  }
  long = await talk(
    "Stripes",
    Array.from({ length: 10 }, (_, i) => ({
      role: "user",
      content: `${i} ${"stripes ".repeat(30)}`,
    })),
  );
  vi.setSystemTime(NOW);
  http = await startMcpHttp(engine, {
    me: {
      tenant: "default",
      scope: "write",
      actor: null,
      actAs: "any",
      operator: false,
      tokenId: "t",
    },
  });
  client = await connectHttp(http.url, "2025-11-25", "me");
  await client.listTools();
});
afterAll(async () => {
  await client.close();
  await http.close();
  await engine.close();
  vi.useRealTimers();
});

async function talk(title: string, messages: readonly MessageInput[]): Promise<string> {
  const session = await engine.createSession({
    agent: "claude-code",
    createdBy: "claude-code",
    title,
    origin: { projectPath: PROJECT, projectId: "shop", gitBranch: "main" },
  });
  for (const message of messages) await session.append(message);
  return (await session.meta()).shortId;
}

let calls = 0;
function callOf(name: string, input: object, output: string, isError = false): MessageInput[] {
  const id = `call-${++calls}`;
  return [
    { role: "assistant", toolCalls: [{ id, name, input: JSON.stringify(input) }] },
    { role: "tool", actor: name, toolResults: [{ id, name, output, isError }] },
  ];
}

const ask = async (name: string, args: object = {}) => {
  const { text, data, isError } = await call(client, name, args);
  expect([isError, data]).toEqual([false, undefined]);
  return text;
};

test("a search has five hits of a few lines each, in at most 6 KB", async () => {
  const text = await ask("search_sessions", { query: "zebra" });
  const hits = text.match(/^\w+#\d+ Zebras \d \[claude-code, shop, main, 1 d ago \(.*\)\]$/gm);
  expect(hits).toHaveLength(5);
  expect(text.match(/^→ #\d+ /gm)).toHaveLength(5);
  expect(text.match(/^ {2}#\d+ /gm)?.length).toBeLessThanOrEqual(10);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6_000);
  expect(text).not.toMatch(/score|\d\.\d{5}|[0-9A-HJKMNP-TV-Z]{26}/);
});

test("a search in full has windows of four and four, and ten hits", async () => {
  const { data } = await callFull(client, "search_sessions", { query: "zebra cron lock" });
  expect(data.hits).toHaveLength(10);
  const hit = data.hits.find(({ short_id }: { short_id: string }) => short_id === fixed);
  expect(hit).toMatchObject({ score: expect.any(Number), session_id: expect.any(String) });
  const long = await callFull(client, "search_sessions", { query: "12 tests pass" });
  expect(long.data.hits[0].window.length).toBeGreaterThan(4);
});

test.each([
  [{ context_before: 4 }, 10, [5, 6, 7, 8, 9]],
  [{ context_after: 0 }, 10, [5, 6, 7, 8, 9]],
  [{ context_before: 2, context_after: 1 }, 10, [7, 8, 9]],
  [{ limit: 3, context_before: 1 }, 3, [8, 9]],
])(
  "%j gives data: whole windows, and as many hits as a full answer",
  async (sizes, hits, indices) => {
    const query = "12 tests pass zebra cron lock";
    const { data, text } = await call(client, "search_sessions", { query, ...sizes });
    const found = data as unknown as {
      hits: { short_id: string; window: { msg_idx: number }[] }[];
    };
    expect(found.hits).toHaveLength(hits);
    const hit = found.hits.find(({ short_id }) => short_id === fixed);
    expect(hit?.window.map(({ msg_idx }) => msg_idx)).toEqual(indices);
    expect(JSON.parse(text)).toEqual(data);
  },
);

test("filters and max_tokens give text, as a query alone does", async () => {
  const args = { query: "zebra", agent: "claude-code", since: "7d", max_tokens: 1_000 };
  expect(await ask("search_sessions", args)).toMatch(/^→ #\d+ /m);
});

test.each([2, 8])("limit %d gives as many hits, of the same size", async (limit) => {
  const text = await ask("search_sessions", { query: "zebra", limit });
  expect(text.match(/^→ #\d+ /gm)).toHaveLength(limit);
  expect(text.length).toBeLessThan(1_200 * limit);
  expect(text).not.toContain("do not fit");
});

test("an explicit window is given as text too", async () => {
  const sizes = { context_before: 5, context_after: 1, limit: 1 };
  const args = { query: "12 tests pass", ...sizes, detail: "brief" };
  const text = await ask("search_sessions", args);
  expect(text.match(/^[ →] #\d+ /gm)).toHaveLength(7);
  expect(text).toMatch(/assistant: Edit src\/cron\.ts/);
});

test("an answer keeps to max_tokens, and reports omissions", async () => {
  const text = await ask("search_sessions", { query: "zebra", max_tokens: 300 });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_200);
  expect(text).toMatch(
    /^\d more hits do not fit into max_tokens: limit \d gives a cursor that goes on\. Read on: /m,
  );
  const page = await ask("list_messages", { session_id: long, max_tokens: 400 });
  const cursor = /on with cursor (\S+)/.exec(page)?.[1];
  expect(page).toContain("no more fit into max_tokens");
  const next = await ask("list_messages", { session_id: long, cursor });
  const shown = [...page.matchAll(/^#(\d+) /gm), ...next.matchAll(/^#(\d+) /gm)];
  const numbers = shown.map(([, number]) => Number(number));
  expect(numbers.filter((number, i) => numbers.indexOf(number) === i)).toEqual(
    Array.from({ length: 10 }, (_, i) => i),
  );
});

test("reading on accepts the short id of a hit", async () => {
  const found = await ask("search_sessions", { query: "runs twice" });
  const ref = /^(\S+#\d+) Fix the cron lock/m.exec(found)?.[1];
  const text = await ask("list_messages", { around: ref, limit: 4 });
  expect(text).toContain("#0 user: The cron job runs twice, fix it");
  expect(text).toContain("→ Bash npm test 2>&1 | tail -5");
  expect(text).toContain("← Bash (failed) Error: database is locked");
  for (const around of ["8", "#8"]) {
    const middle = await ask("list_messages", { session_id: fixed, around, limit: 2 });
    expect(middle).toContain("all 12 tests pass");
  }
});

test("sessions are listed by time, title and project", async () => {
  const list = async (args: object) => {
    const text = await ask("list_sessions", args);
    return [...text.matchAll(/^\w+ (.*) \[claude-code/gm)].map(([, title]) => title);
  };
  expect(await list({ title: "cron" })).toEqual(["Fix the cron lock", "Read the cron job"]);
  expect(await list({ title: "cron", since: "yesterday" })).toEqual(["Fix the cron lock"]);
  expect(await list({ title: "cron", until: "2d" })).toEqual(["Read the cron job"]);
  expect(await list({ project: "shop", title: "cron" })).toHaveLength(2);
  expect(await list({ project_id: "elsewhere" })).toEqual([]);
});

test("recap lists yesterday's work in a project", async () => {
  const args = { since: "yesterday", until: "yesterday", project: "shop", limit: 20 };
  const text = await ask("recap", { ...args, max_tokens: 8_000 });
  expect(text).not.toContain("Read the cron job");
  const [, recap = ""] =
    /^(\w+ Fix the cron lock [\s\S]*?)^\w+ Zebras|<\/recalled/m.exec(text) ?? [];
  const session = recap === "" ? text : recap;
  expect(session).toContain("asked #0: The cron job runs twice, fix it");
  expect(session).toContain("outcome #9: The lock is now taken before the job starts.");
  expect(session).toContain("changed src/cron.ts");
  expect(session).toContain("ran `npm test (2×)`");
  expect(session).not.toContain("ls src");
  expect(await ask("recap", { since: "today" })).toContain("No stored work");
  expect(await ask("recap", { session_id: older })).toContain("outcome #3: It takes a lock.");
});

test("trace lists the sessions that touched a file, the newest first", async () => {
  const text = await ask("trace", { file: "src/cron.ts" });
  expect(text).toMatch(
    new RegExp(
      `^${fixed} Fix.*\\n  changed at #3\\n.*asked for by: The cron[^]*^${older} Read`,
      "m",
    ),
  );
});

test("trace lists the sessions that ran a command, and the fix of its failure", async () => {
  const text = await ask("trace", { command: "npm test" });
  expect(text).toContain("ran 2 times (#1–#7), failed at #1");
  expect(text).toContain("last #7 Bash npm test → worked: all 12 tests pass");
  expect(text).toContain("after the last failure: #3 Edit src/cron.ts; #7 Bash npm test worked");
});

test("trace lists the sessions that met an error, and its fix", async () => {
  const text = await ask("trace", { error: "DATABASE is locked" });
  expect(text).toContain("met by #1 Bash npm test\n    Error: database is locked");
  expect(text).toContain("cleared by: #3 Edit src/cron.ts; #7 Bash npm test worked");
  expect(await ask("trace", { error: "no such thing at all" })).toContain("No session has this");
});

test("a message is read by its entry's id alone, and a hit's id takes precedence over session_id", async () => {
  const { messages } = await (await engine.getSession(fixed)).listMessages({ limit: 1 });
  expect(await ask("list_messages", { around: messages[0]?.id })).toContain("Fix the cron lock");
  expect(await ask("list_messages", { session_id: older, around: `${fixed}#1` })).toContain(
    "Fix the cron lock",
  );
  const { isError, text } = await call(client, "list_messages", { around: "nothing" });
  expect([isError, text]).toEqual([true, expect.stringContaining('around is \\"nothing\\"')]);
});

test("a context that does not fit into an answer is refused with the limit", async () => {
  const huge = await talk("Whales", [{ role: "user", content: "whale ".repeat(20_000) }]);
  const args = { session_id: huge, token_budget: 20_000 };
  const refused = await call(client, "build_context", args);
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("256 to 10000")]);
  const most = { ...args, token_budget: 10_000 };
  expect(await ask("build_context", most)).toContain("whale");
});

test("secrets in names of folders, branches and files are masked", async () => {
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const session = await engine.createSession({
    agent: "claude-code",
    createdBy: "claude-code",
    title: "Okapi",
    origin: { projectPath: `/home/ana/${secret}`, projectId: "o", gitBranch: `x/${secret}` },
  });
  await session.append({ role: "user", content: "okapi" });
  const edit = { file_path: `/srv/${secret}.ts`, old_string: "a", new_string: "b" };
  for (const message of callOf("Edit", edit, "ok")) await session.append(message);
  const { shortId: session_id } = await session.meta();
  for (const [name, args] of [
    ["recap", { session_id }],
    ["get_session_meta", { session_id }],
    ["list_messages", { session_id }],
    ["list_sessions", { title: "Okapi" }],
    ["search_sessions", { query: "okapi" }],
    ["trace", { file: `${secret}.ts` }],
    ["related", { question: "okapi" }],
  ] as const) {
    const text = await ask(name, args);
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(secret);
  }
});

test("sessions that trace has not read are not reported as unread transcripts", async () => {
  const { data } = await callFull(client, "trace", { file: "src/cron.ts" });
  expect([data["unread_sessions"], data["unread"]]).toEqual([0, undefined]);
});

test("any answer is within max_tokens", async () => {
  const calls: readonly (readonly [string, object])[] = [
    ["search_sessions", { query: "zebra cron lock" }],
    ["list_messages", { session_id: fixed }],
    ["recap", { limit: 20 }],
    ["trace", { error: "database is locked" }],
    ["related", { session_id: fixed }],
    ["list_sessions", {}],
    ["get_session_meta", { session_id: fixed }],
    ["recall", { session_id: fixed, query: "cron lock" }],
    ["search_memory", { query: "cron" }],
  ];
  for (const [name, args] of calls) {
    for (const detail of ["brief", "full"]) {
      for (const max_tokens of [200, 600, 2_000]) {
        const { text, isError, data } = await call(client, name, { ...args, detail, max_tokens });
        const what = `${name} ${detail} ${max_tokens}`;
        expect([isError, data === undefined], what).toEqual([false, detail === "brief"]);
        expect(Buffer.byteLength(text), what).toBeLessThanOrEqual(4 * max_tokens);
      }
    }
  }
});

test("a reversed period is refused", async () => {
  const period = { since: "today", until: "2d" };
  for (const [name, args] of [
    ["search_sessions", { query: "zebra" }],
    ["list_sessions", {}],
    ["recap", {}],
    ["trace", { file: "src/cron.ts" }],
  ] as const) {
    const { text, isError } = await call(client, name, { ...args, ...period });
    expect([name, isError, text]).toEqual([
      name,
      true,
      expect.stringMatching(/"invalid_input".*since \(.*\) is after until .*swap them/),
    ]);
  }
  expect(await ask("trace", { file: "src/cron.ts", until: "2025" })).toContain("No session");
});

test("sub-agents' sessions are listed only on request", async () => {
  const session = await engine.createSession({
    agent: "claude-code",
    createdBy: "claude-code",
    title: "Count the gnus",
    metadata: { parent: { id: "a1", key: "desk:gnu:a1" } },
    origin: { source: "claude-code", key: "desk:gnu:a1/agent-7", projectId: "gnu" },
  });
  await session.append({ role: "user", content: "Count the gnus" });
  const place = { project: "gnu" };
  expect(await ask("list_sessions", place)).toMatch(/^None match/);
  expect(await ask("list_sessions", { ...place, sub_agents: true })).toMatch(
    /Count the gnus \[.*, sub-agent\]/,
  );
  expect(await ask("recap", place)).toContain("1 session of a sub-agent is left out");
  expect(await ask("recap", { ...place, sub_agents: true })).toContain("asked #0: Count the gnus");
});

test("an unstored session of the caller is not reported as left out", async () => {
  const named = await ask("search_sessions", { query: "zebra", exclude_session: "not-stored" });
  expect(named).not.toContain("left out");
  const stored = await ask("search_sessions", { query: "zebra", exclude_session: long });
  expect(stored).toContain("Your own session is left out.");
});

test("hits of the newest session come last where the caller's session is unknown", async () => {
  await using memory = await open(":memory:");
  const say = async (content: string) => {
    const session = await memory.createSession({ agent: "gemini-cli", createdBy: "gemini-cli" });
    const opening = "<session_context>\nThis is the Gemini CLI.\n</session_context>";
    await session.append({ role: "user", content: opening, metadata: { injected: true } });
    await session.append({ role: "system", content: "<skills_instructions>…" });
    await session.append({ role: "user", content });
    return (await session.meta()).shortId;
  };
  const before = await say("The walrus keeps the lock. Nothing else was said of it that day.");
  vi.setSystemTime(Date.now() + 60_000);
  const asking = await say("walrus lock");
  const own = await startMcpHttp(memory, {
    me: {
      tenant: "default",
      scope: "read",
      actor: null,
      actAs: [],
      operator: false,
      tokenId: "t",
    },
  });
  const reader = await connectHttp(own.url, "2025-11-25", "me");
  const { data } = await callFull(reader, "search_sessions", { query: "walrus lock" });
  const ranked = data.hits.map(({ short_id }: { short_id: string }) => short_id);
  expect(ranked).toEqual([asking, before]);
  const { text } = await call(reader, "search_sessions", { query: "walrus lock" });
  expect([...text.matchAll(/^(\w+)#2 /gm)].map(([, id]) => id)).toEqual([before, asking]);
  expect(text).toContain(`Read on: list_messages { "around": "${before}#2" }`);
  expect(text.match(/the newest session here/g)).toHaveLength(1);
  // Injected text is no neighbour.
  expect(text).not.toMatch(/session_context|skills_instructions/);
  await reader.close();
  await own.close();
});

test("what the user says does not hold is marked, shown as marked, and unmarked", async () => {
  const short = await talk("Walrus deploys", [
    { role: "user", content: "The walrus deploys on Fridays" },
    { role: "user", content: "The walrus deploys on Mondays" },
  ]);
  const ref = `${short}#0`;
  const args = { mark: ref, content: "It moved", replaced_by: `${short}#1` };
  expect((await call(client, "remember", args)).data).toMatchObject({
    marked: ref,
    remembered: null,
  });
  const note = "(replaced by #1";
  const found = () => call(client, "search_sessions", { query: "walrus fridays" });
  expect((await found()).text).toContain(note);
  const asked = { session_id: short, query: "walrus fridays" };
  expect((await call(client, "recall", asked)).text).toContain(note);
  const { data } = await callFull(client, "recall", asked);
  expect(data).toMatchObject({
    messages: [{ mark: null }, { mark: { kind: "replaced", replaced_by: { msg_idx: 1 } } }],
  });
  expect((await call(client, "recap", { session_id: short })).text).toContain("#0 replaced by #1");
  await call(client, "remember", { mark: ref });
  expect((await found()).text).not.toContain(note);
});
