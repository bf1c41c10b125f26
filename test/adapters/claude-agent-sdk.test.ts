/** The session store for the Claude Agent SDK, held to the SDK's contract with the SDK itself. */

import { join } from "node:path";
import {
  deleteSession,
  foldSessionSummary,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  InMemorySessionStore,
  listSessions,
  listSubagents,
  renameSession,
  type SessionStore,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeSessionStore } from "../../src/adapters/claude-agent-sdk/index.ts";
import { open } from "../../src/index.ts";
import { isSubAgent } from "../../src/model/session.ts";
import { createFolder } from "../support/folder.ts";
import { WORLDS, type World } from "../support/worlds.ts";

type Entry = Parameters<SessionStore["append"]>[1][number];

let count = 0;
/** A session that no other test uses. */
function newKey(projectKey = `-srv-app-${++count}`) {
  const sessionId = `0a1b2c3d-0000-4000-8000-${String(++count).padStart(12, "0")}`;
  return { projectKey, sessionId };
}

const uuid = () => crypto.randomUUID();
const at = (n: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, n)).toISOString();

/** A turn as the SDK mirrors it: about half of its lines have no uuid. */
function turn(sessionId: string, question: string, answer: string): Entry[] {
  const [asked, called, result, said] = [uuid(), uuid(), uuid(), uuid()];
  const common = { sessionId, cwd: "/srv/app", gitBranch: "main", isSidechain: false };
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3 };
  const message = { id: `msg_${called}`, type: "message", role: "assistant", model: "claude-x" };
  return [
    { type: "queue-operation", operation: "enqueue", timestamp: at(0), sessionId },
    {
      ...common,
      type: "user",
      uuid: asked,
      parentUuid: null,
      timestamp: at(1),
      message: { role: "user", content: question },
    },
    {
      ...common,
      type: "assistant",
      uuid: called,
      parentUuid: asked,
      timestamp: at(2),
      message: {
        ...message,
        content: [
          { type: "thinking", thinking: "Look at it.", signature: "c2ln" },
          { type: "tool_use", id: `toolu_${called}`, name: "Bash", input: { command: "ls" } },
        ],
        usage,
      },
    },
    {
      ...common,
      type: "user",
      uuid: result,
      parentUuid: called,
      timestamp: at(3),
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `toolu_${called}`, content: "cron.lock" }],
      },
      toolUseResult: { stdout: "cron.lock", interrupted: false },
    },
    {
      ...common,
      type: "assistant",
      uuid: said,
      parentUuid: result,
      timestamp: at(4),
      message: { ...message, content: [{ type: "text", text: answer }], usage },
    },
    { type: "last-prompt", lastPrompt: question, sessionId },
  ] as Entry[];
}

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  let store: Required<SessionStore>;
  beforeAll(async () => {
    world = await start();
    store = claudeSessionStore(world.engine, { foldSessionSummary });
  });
  afterAll(() => world.close());

  test("gives null for unknown keys, and lines unchanged", async () => {
    const key = newKey();
    expect(await store.load(key)).toBeNull();
    await store.append(key, []);
    expect(await store.load(key)).toBeNull();
    const lines = [
      ...turn(key.sessionId, "why twice?", "the lock is gone"),
      { type: "user", uuid: uuid(), message: { role: "user", content: "" } },
      { type: "user", uuid: uuid(), message: { role: "user", content: [] } },
      { type: "user", uuid: uuid(), message: { role: "user", content: [{ type: "odd", n: 1 }] } },
      { type: "assistant", uuid: "not a/uuid", message: { content: [{ type: "tool_use" }] } },
      { type: "user", uuid: "", message: null, nothing: null, é: "\u0000 😀 \ud800" },
      { type: "summary", large: "x".repeat(50_000), nested: [[[{ a: [] }]]] },
    ] as Entry[];
    await store.append(key, lines);
    expect(await store.load(key)).toEqual(lines);
  });

  test("stores a line with a uuid once, and one without each time", async () => {
    const key = newKey();
    const lines = turn(key.sessionId, "once?", "once");
    await store.append(key, lines);
    await store.append(key, lines);
    const plain = lines.filter((line) => line.uuid === undefined);
    expect(await store.load(key)).toEqual([...lines, ...plain]);
    const more = { type: "user", uuid: uuid(), message: { role: "user", content: "more" } };
    const [first] = lines.filter((line) => line.uuid !== undefined);
    await store.append(key, [first as Entry, more, more]);
    expect(await store.load(key)).toEqual([...lines, ...plain, more]);
  });

  test("keeps the order of unawaited calls, also of the first ones", async () => {
    const key = newKey();
    const lines = Array.from({ length: 20 }, (_, n) => ({ type: "mode", n }));
    await Promise.all(lines.map((line) => store.append(key, [line])));
    expect(await store.load(key)).toEqual(lines);
  });

  test("keeps keys distinct, whatever their characters", async () => {
    const keys = [
      { projectKey: "a", sessionId: "b" },
      { projectKey: "a/b", sessionId: "c" },
      { projectKey: "a", sessionId: "b/c" },
      { projectKey: "a", sessionId: "b", subpath: "c" },
      { projectKey: "a", sessionId: "b", subpath: "c/agent-1 ä" },
      { projectKey: "a%2Fb", sessionId: "c" },
    ];
    for (const [n, key] of keys.entries()) await store.append(key, [{ type: "mode", n }]);
    for (const [n, key] of keys.entries()) {
      expect(await store.load(key)).toEqual([{ type: "mode", n }]);
    }
    const main = await store.listSessions("a");
    expect(main.map(({ sessionId }) => sessionId).sort()).toEqual(["b", "b/c"]);
    const subkeys = await store.listSubkeys({ projectKey: "a", sessionId: "b" });
    expect(subkeys.sort()).toEqual(["c", "c/agent-1 ä"]);
    expect(await store.listSubkeys({ projectKey: "a/b", sessionId: "c" })).toEqual([]);
  });

  test("deletes a session with its sub-agents, or a sub-agent alone", async () => {
    const key = newKey();
    const other = newKey(key.projectKey);
    const subs = ["subagents/agent-1", "subagents/agent-2"].map((subpath) => ({ ...key, subpath }));
    for (const each of [key, other, ...subs]) await store.append(each, [{ type: "mode", x: 1 }]);
    await store.delete(subs[0] ?? key);
    await store.delete({ ...key, subpath: "subagents/unknown" });
    expect(await store.load(subs[0] ?? key)).toBeNull();
    expect(await store.listSubkeys(key)).toEqual(["subagents/agent-2"]);
    expect(await store.load(key)).toHaveLength(1);
    await store.delete(key);
    await store.delete(key);
    expect(await store.load(key)).toBeNull();
    expect(await store.load(subs[1] ?? key)).toBeNull();
    expect(await store.load(other)).toHaveLength(1);
    await store.append(key, [{ type: "mode", x: 2 }]);
    expect(await store.load(key)).toEqual([{ type: "mode", x: 2 }]);
  });

  test("lists sessions with the times at which they were written", async () => {
    const { projectKey } = newKey();
    const [one, two] = [newKey(projectKey), newKey(projectKey)];
    const before = Date.now();
    for (const key of [one, two]) await store.append(key, turn(key.sessionId, "q", "a"));
    await store.append({ ...one, subpath: "subagents/agent-1" }, [{ type: "mode" }]);
    const listed = await store.listSessions(projectKey);
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(
      [one, two].map(({ sessionId }) => sessionId).sort(),
    );
    for (const { mtime } of listed) {
      expect(Number.isSafeInteger(mtime)).toBe(true);
      expect(mtime).toBeGreaterThanOrEqual(before);
      expect(mtime).toBeLessThanOrEqual(Date.now());
    }
    expect(await store.listSessions("elsewhere")).toEqual([]);
  });

  test("gives the summaries that the SDK folds, as of the times that are listed", async () => {
    const { projectKey } = newKey();
    const theirs = new InMemorySessionStore();
    const keys = [newKey(projectKey), newKey(projectKey)];
    const both = async (n: number, lines: Entry[]) => {
      const key = keys[n] ?? newKey();
      await Promise.all([theirs.append(key, lines), store.append(key, lines)]);
    };
    const compare = async () => {
      const [own, expected] = [
        await store.listSessionSummaries(projectKey),
        await theirs.listSessionSummaries(projectKey),
      ];
      const data = (all: typeof own) =>
        Object.fromEntries(all.map((each) => [each.sessionId, each.data]));
      expect(data(own)).toEqual(data(expected));
      const times = own.map(({ sessionId, mtime }) => ({ sessionId, mtime }));
      const sorted = (all: typeof times) =>
        all.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
      expect(sorted(times)).toEqual(sorted(await store.listSessions(projectKey)));
    };
    await both(0, turn(keys[0]?.sessionId ?? "", "the first question", "answer"));
    await compare();
    await both(1, turn(keys[1]?.sessionId ?? "", "another question", "answer"));
    await both(0, [{ type: "custom-title", customTitle: "Cron lock" }]);
    await both(0, turn(keys[0]?.sessionId ?? "", "a later question", "answer"));
    await compare();
    await compare();
  });

  test("supports the SDK's own calls: list, read, rename, tag, fork, delete", async () => {
    const dir = `/srv/app-${++count}`;
    const projectKey = dir.replaceAll(/[^A-Za-z0-9]/g, "-");
    const key = newKey(projectKey);
    const options = { dir, sessionStore: store };
    await store.append(key, turn(key.sessionId, "why does cron run twice?", "the lock is gone"));
    const agent = { ...key, subpath: "subagents/agent-a1" };
    await store.append(agent, turn(key.sessionId, "look at the lock", "it is gone"));

    const [listed] = await listSessions(options);
    expect(listed).toMatchObject({ sessionId: key.sessionId, summary: expect.any(String) });
    const messages = await getSessionMessages(key.sessionId, options);
    expect(messages.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(await listSubagents(key.sessionId, options)).toEqual(["a1"]);
    await renameSession(key.sessionId, "Two runs", options);
    await tagSession(key.sessionId, "cron", options);
    expect(await getSessionInfo(key.sessionId, options)).toMatchObject({
      customTitle: "Two runs",
      tag: "cron",
    });
    const fork = await forkSession(key.sessionId, options);
    const copied = await getSessionMessages(fork.sessionId, options);
    expect(copied).toHaveLength(messages.length);
    await deleteSession(key.sessionId, options);
    expect((await listSessions(options)).map(({ sessionId }) => sessionId)).toEqual([
      fork.sessionId,
    ]);
  });

  test("shows an agent's work as any session: found, titled, counted, linked", async () => {
    const key = newKey();
    await store.append(
      key,
      turn(key.sessionId, "why does the zebrafinch job run?", "A stale lock."),
    );
    await store.append({ ...key, subpath: "subagents/agent-1" }, [
      ...turn(key.sessionId, "inspect the zebrafinch lock", "done"),
    ]);
    const { hits } = await world.engine.searchSessions("zebrafinch", {
      project: key.projectKey,
    });
    expect(hits).toHaveLength(2);
    const { sessions } = await world.engine.listSessions({ projectId: key.projectKey });
    const [sub, main] = [sessions.find(isSubAgent), sessions.find((each) => !isSubAgent(each))];
    expect(main).toMatchObject({
      title: "why does the zebrafinch job run?",
      agent: "claude-agent-sdk",
      messageCount: 4,
      entryCount: 6,
      origin: { source: "claude-agent-sdk", projectPath: "/srv/app", gitBranch: "main" },
      // The two lines of one answer repeat its usage.
      tokens: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheCreationTokens: 0 },
    });
    expect(sub?.metadata["parent"]).toEqual({ key: main?.origin.key });
    await store.append(key, [{ type: "ai-title", aiTitle: "Zebrafinch" }]);
    await store.append(key, [{ type: "custom-title", customTitle: "Mine" }]);
    await store.append(key, [{ type: "ai-title", aiTitle: "Not this" }]);
    expect((await world.engine.getSessionMeta(main?.id ?? "")).title).toBe("Mine");
    const session = world.engine.session(main?.id ?? "");
    const { messages } = await session.listMessages();
    expect(messages.map(({ role, actor }) => [role, actor])).toEqual([
      ["user", "user"],
      ["assistant", "claude-agent-sdk"],
      ["tool", null],
      ["assistant", "claude-agent-sdk"],
    ]);
    // A message that was removed for good stays away from the agent, too.
    const lines = (await store.load(key)) ?? [];
    await session.removeEntry(messages[0]?.id ?? "");
    expect(await store.load(key)).toEqual(lines.filter((line) => line !== lines[1]));
  });
});

test("another process continues a session", async () => {
  const file = join(createFolder(), "claude.db");
  const key = newKey();
  const lines = turn(key.sessionId, "first", "one");
  const first = await open(file, { inThread: true });
  await claudeSessionStore(first).append(key, lines);
  await first.close();
  await using second = await open(file, { inThread: true });
  const store = claudeSessionStore(second);
  await store.append(key, [...lines.slice(1, 3), { type: "mode", last: true }]);
  expect(await store.load(key)).toEqual([...lines, { type: "mode", last: true }]);
});

test("batches of any size are stored", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const store = claudeSessionStore(engine);
  const key = newKey();
  const text = "y".repeat(3 * 1024 * 1024);
  const lines = [
    ...Array.from({ length: 1_500 }, (_, n) => ({ type: "mode", n })),
    ...Array.from({ length: 3 }, (_, n) => {
      return { type: "user", uuid: `${n}`, message: { role: "user", content: `${n} ${text}` } };
    }),
    { type: "user", uuid: "twice", message: { role: "user", content: text + text.slice(0, 2e6) } },
  ];
  await store.append(key, lines);
  expect(await store.load(key)).toEqual(lines);
  expect(await engine.searchSessions("nothing")).toMatchObject({ hits: [] });
});
