import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuildContextInput } from "../engine/context/context-options.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";
import type { RemoteSession } from "./remote-session.ts";

/** Compares the client with the library on the same session. */

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

async function createSession() {
  const session = await served.remote.createSession({ agent: "coder", createdBy: "ana" });
  const local = await served.engine.getSession(session.id);
  return { ...served, session, local };
}

describe("a session over the network", () => {
  test("accepts the library's largest batch, atomically, and refuses a larger one", async () => {
    // A separate store: others would wait for its indexing.
    const { engine, remote } = await serveStore();
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    const local = await engine.getSession(session.id);
    const half = "x".repeat(8 * 1024 * 1024 - 4_096);
    const message = (content: string) => ({ role: "user" as const, actor: "ana", content });
    expect(await session.append([message(half), message(half)])).toHaveLength(2);
    const tooMany = [message(half), message(half), message(half)];
    const limit = { code: "too_large", details: { limit: 16 * 1024 * 1024 } };
    await expect(session.append(tooMany)).rejects.toMatchObject(limit);
    await expect(local.append(tooMany)).rejects.toMatchObject(limit);
    expect((await local.listMessages()).total).toBe(2);
  });

  test("accepts messages of every shape, one or many, and pages through them", async () => {
    const { engine, session, local } = await createSession();
    const one = await session.append({
      role: "user",
      actor: "ana",
      metadata: { isTrue: true },
      createdAt: new Date(1_000),
      content: [
        { type: "text", text: "look: \u{1F600}" },
        { type: "image", mediaType: "image/png", data: "aGk=" },
        { type: "custom_thing", deepValue: [1] },
      ],
    });
    expect(one).toStrictEqual(await local.getEntry(one.id));
    const many = await session.append([
      {
        role: "assistant",
        content: "on it",
        model: "m",
        adapter: "x",
        interaction: false,
        usage: { inputTokens: 7, cacheReadTokens: 2 },
        contextWindow: 200,
        toolCalls: [{ id: "t1", name: "read", input: { filePath: "a" } }],
        toolResults: [{ id: "t1", name: "read", output: "text", isError: true }],
      },
      { role: "user", content: "thanks" },
    ]);
    expect(many).toHaveLength(3);
    expect(await session.history()).toStrictEqual(await local.history());
    expect(await session.history({ limit: 1, before: many[2]?.id ?? "" })).toHaveLength(1);
    const page = { offset: 1, limit: 2, preview: true };
    expect(await session.listMessages(page)).toStrictEqual(await local.listMessages(page));
    expect(await session.listEntries({ tree: true, limit: 2 })).toStrictEqual(
      await local.listEntries({ tree: true, limit: 2 }),
    );
    const tail = { tree: true, offset: 3, limit: 2 };
    expect(await session.listEntries(tail)).toStrictEqual(await local.listEntries(tail));
    expect(await session.meta()).toStrictEqual(await engine.getSessionMeta(session.id));
  });

  test("branches, edits, regenerates, labels and pins", async () => {
    const { session, local } = await createSession();
    const question = await session.append({ role: "user", content: "first" });
    const answer = await session.append({ role: "assistant", content: "one" });
    await session.branch(question.id, { expectedLeaf: answer.id, summary: "went elsewhere" });
    await session.branch(answer.id);
    const edited = await session.edit(question.id, "first, but better", { actor: "ana" });
    expect(edited).toStrictEqual(await local.getEntry(edited.id));
    const again = await session.regenerate(answer.id, { role: "assistant", content: "two" });
    await session.label(again.id, "good");
    await session.pin(again.id);
    expect(await session.labels()).toStrictEqual(new Map([[again.id, "good"]]));
    expect((await session.getEntry(again.id)).pinned).toBe(true);
    await session.unpin(again.id);
    await session.label(again.id, null);
    expect((await session.labels()).size).toBe(0);
    const mark = { entryId: answer.id, replacedBy: again.id, reason: "Too short.", actor: "ana" };
    const marked = await session.mark(mark);
    expect(await session.marks()).toStrictEqual([marked]);
    expect(await local.marks()).toStrictEqual([marked]);
    await session.unmark({ entryId: answer.id });
    expect(await session.marks()).toEqual([]);
    const branches = await session.branches();
    expect(branches).toStrictEqual(await local.branches());
    // The other answer, the edit of the first message, the other path, and the original.
    expect(branches.map(({ parentLeaf, forkIndex }) => [parentLeaf, forkIndex])).toEqual([
      [answer.id, 1],
      [null, 0],
      [answer.id, 1],
      [null, 0],
    ]);
    const custom = await session.appendCustom("editor", { openFile: "a.ts" });
    expect(custom).toStrictEqual(await local.getEntry(custom.id));
    const note = await session.appendCustomMessage({ type: "n", content: "x", display: false });
    expect(note).toStrictEqual(await local.getEntry(note.id));
    await expect(
      session.append({ role: "user", content: "x" }, { expectedLeaf: null }),
    ).rejects.toMatchObject({ code: "stale_leaf", details: { expectedLeaf: "" } });
    await session.append({ role: "user", content: "new start" }, { parent: null });
  });

  test("is changed and forked", async () => {
    const { engine, session } = await createSession();
    const entry = await session.append({ role: "user", content: "hi" });
    expect((await session.setTitle("Cron")).title).toBe("Cron");
    const figures = {
      exchangeCount: 2,
      toolCounts: { Read_File: 1 },
      fileMtime: 5,
      firstMessageAt: 1,
      lastMessageAt: null,
    };
    const updated = await session.update({
      owner: "eve",
      metadata: { a: 1 },
      ttl: 9,
      participants: ["x"],
      figures,
    });
    expect(updated).toStrictEqual(await engine.getSessionMeta(session.id));
    expect(updated).toMatchObject({ owner: "eve", ttl: 9, figures });
    const fork = await session.fork({ createdBy: "ben", through: entry.id, startedAt: 7 });
    expect(await fork.meta()).toMatchObject({ parentSessionId: session.id, startedAt: 7 });
  });

  test("builds a context, counts, recalls, plans, compacts and summarises", async () => {
    const { session, local } = await createSession();
    for (let i = 0; i < 6; i++) {
      await session.append({ role: "user", content: `question ${i} about the cron lock` });
      const content = `answer ${i} ${"at length ".repeat(40)}`;
      await session.append({ role: "assistant", content, model: "m" });
    }
    const input = { tokenBudget: 300, recentTurns: 2, semanticRecall: { k: 2 } } as const;
    expect(await session.buildContext(input)).toStrictEqual(await local.buildContext(input));
    const rendered = { ...input, provider: "anthropic" } as const;
    expect((await session.buildContext(rendered)).rendered).toStrictEqual(
      (await local.buildContext(rendered)).rendered,
    );
    expect(await session.usage()).toStrictEqual(await local.usage());
    const recalled = await collect(session.recall("cron lock", { k: 3 }));
    expect(recalled).toStrictEqual(await collect(local.recall("cron lock", { k: 3 })));
    expect(recalled.length).toBeGreaterThan(0);
    const keep = { keep: { messages: 2 } } as const;
    const plan = await session.planCompaction(keep);
    expect(plan).toStrictEqual(await local.planCompaction(keep));
    expect(plan?.covered.length).toBeGreaterThan(0);
    expect(await session.planCompaction({ preset: "claw" })).toBeNull();
    const compacted = await session.compact(keep);
    expect(compacted.entry).toStrictEqual(await local.getEntry(compacted.entry?.id ?? ""));
    await session.append({ role: "user", content: "and then?" });
    const summary = await session.summarize(undefined, { profile: "claw" });
    expect(await session.summaries()).toStrictEqual(await local.summaries());
    expect(summary.kind).toBe("summary");
    expect(await session.applyRetention()).toEqual({ erased: 0 });
    await expect(session.extractFacts()).rejects.toMatchObject({ code: "facts_disabled" });
  });

  test("prunes old tool results in a context, with every option", async () => {
    const { session, local } = await createSession();
    await session.append({ role: "user", content: "look" });
    for (let i = 0; i < 6; i++) {
      await session.append({
        role: "assistant",
        content: "I look.",
        toolCalls: [{ id: `c${i}`, name: "ls" }],
        toolResults: [{ id: `c${i}`, name: "ls", output: `${i} ${"x".repeat(900)}` }],
      });
    }
    const plain: BuildContextInput = { tokenBudget: 8_000, semanticRecall: false };
    const input: BuildContextInput = {
      ...plain,
      prune: {
        windowTokens: 1_000,
        usedTokens: 900,
        tools: { allow: ["l*"], deny: ["rm"] },
        limits: {
          trimRatio: 0.1,
          trimAbove: 100,
          headCharacters: 10,
          tailCharacters: 10,
          clearRatio: 0.2,
          clearAbove: 10,
          protectedAssistants: 1,
        },
      },
    };
    const built = await session.buildContext(input);
    expect(built).toStrictEqual(await local.buildContext(input));
    expect(built).not.toStrictEqual(await local.buildContext(plain));
  });

  test("builds a context for a message that is not the newest", async () => {
    const { session, local } = await createSession();
    await session.append([
      ...["price?", "colour?"].map((content) => ({ role: "user" as const, content })),
    ]);
    const { messages } = await session.listMessages();
    const input: BuildContextInput = { tokenBudget: 8_000, replyTo: messages[0]?.id ?? "" };
    const built = await session.buildContext(input);
    expect(built.messages).toHaveLength(1);
    expect(built).toStrictEqual(await local.buildContext(input));
  });

  test("gives pages of the largest size, whatever their content", async () => {
    const { session, local } = await createSession();
    const messages = Array.from({ length: 500 }, (_, i) => ({
      role: "user" as const,
      content: `${i} ${"ü".repeat(2_000)}`,
    }));
    await session.append(messages);
    const page = await session.listMessages({ limit: 500 });
    expect(page.messages).toHaveLength(500);
    expect(page).toStrictEqual(await local.listMessages({ limit: 500 }));
  });
});

describe("input that cannot be serialised", () => {
  test.each([
    ["summarizer", (s: Session) => s.compact({ summarizer: { name: "x" } as never })],
    ["before", (s: Session) => s.compact({ before: () => undefined })],
    ["summarizer", (s: Session) => s.summarize(undefined, { summarizer: {} as never })],
    ["extractor", (s: Session) => s.extractFacts(undefined, { extractor: {} as never })],
    ["redact", (s: Session) => s.extractFacts(undefined, { redact: (fact) => fact })],
    ["metadata.when", (s: Session) => s.update({ metadata: { when: 1n as never } })],
    ["createdAt", (s: Session) => s.append({ role: "user", content: "x", createdAt: Number.NaN })],
    ["expectedLeaf", (s: Session) => s.branch(null, { expectedLeaf: 'a"b\n' })],
    ["idempotencyKey", (s: Session) => s.fork({ createdBy: "a", idempotencyKey: "ä" })],
    ["id", (s: Session) => s.getEntry("..")],
  ])("names %s", async (field, call) => {
    const { session } = await createSession();
    const failed = async () => {
      await call(session);
    };
    await expect(failed()).rejects.toMatchObject({ code: "invalid_input", details: { field } });
  });
});

type Session = RemoteSession;

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
