/** A field has one name and one type in inputs and results, on both databases. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { autoCompaction, clawPolicy, generate, generateStream } from "../src/gateway/index.ts";
import {
  type Engine,
  inputTextOf,
  open,
  type SessionHandle,
  type ToolUseBlock,
} from "../src/index.ts";
import { MAX_BLOCKS } from "../src/model/limits.ts";
import { createDatabase } from "./support/postgres.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", () => Promise.resolve(":memory:")],
  ["PostgreSQL", createDatabase],
];

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open(await newAddress(), { inThread: true });
  });
  afterAll(() => engine.close());

  function start(metadata = {}): Promise<SessionHandle> {
    return engine.createSession({ agent: "coder", createdBy: "ana", metadata });
  }

  async function talk(session: SessionHandle, count: number, words: number): Promise<void> {
    const filler = " lorem".repeat(words);
    for (let i = 0; i < count; i++) {
      await session.append([
        { role: "user", content: `question ${i}${filler}` },
        { role: "assistant", content: `answer ${i}${filler}`, model: "m" },
      ]);
    }
  }

  test("a message with tool results gives all of its entries, one without gives its own", async () => {
    const session = await start();
    const toolResults = [
      { id: "1", output: "a" },
      { id: "2", output: "b" },
    ];
    const entries = await session.append({ role: "assistant", content: "x", toolResults });
    expect(entries.map(({ role }) => role)).toEqual(["assistant", "tool", "tool"]);
    const options = { idempotencyKey: "once" };
    const only = await session.append({ role: "tool", toolResults }, options);
    expect(only).toHaveLength(2);
    expect(await session.append({ role: "tool", toolResults }, options)).toEqual(only);
    expect((await session.append({ role: "user", content: "y" })).role).toBe("user");
  });

  test("the ttl has one name in both directions, and keeps half a second", async () => {
    const session = await engine.createSession({ agent: "a", createdBy: "b", ttl: 60 });
    expect((await session.meta()).ttl).toBe(60);
    expect((await session.update({ ttl: null })).ttl).toBeNull();
    const half = { ttl: 0.5 };
    const message = "ttl must be a whole number of seconds of at least 1, or null, not 0.5";
    await expect(session.update(half)).rejects.toMatchObject({ code: "invalid_input", message });
  });

  test("the arguments of a call are an object in both directions, with their text kept", async () => {
    const session = await start();
    const call = { id: "1", name: "bash", input: { command: "ls", n: [1] } };
    const { blocks } = await session.append({ role: "assistant", toolCalls: [call] });
    expect(blocks).toEqual([{ type: "tool_use", ...call }]);
    const texts = ['{ "big": 12345678901234567890 }', "ls -l"];
    const toolCalls = texts.map((input, i) => ({ id: `t${i}`, name: "bash", input }));
    const { id } = await session.append({ role: "assistant", toolCalls });
    const read = (await engine.getEntry(id)).blocks as readonly ToolUseBlock[];
    expect(read).toMatchObject([{ input: { big: expect.any(Number) } }, { input: "ls -l" }]);
    expect(read.map(inputTextOf)).toEqual(texts);
    const [again] = await session.append([{ role: "assistant", content: read }]);
    expect(again?.blocks).toEqual(read);
    expect(await engine.verify()).toMatchObject({ problems: [] });
  });

  test("the digest of a tombstone is hexadecimal everywhere", async () => {
    const session = await start();
    await session.append({ role: "user", content: "x" });
    const { digest } = await session.delete();
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await engine.findTombstone(session.id))?.digest).toBe(digest);
  });

  test("a compaction gives the text of its summary", async () => {
    const session = await start();
    await talk(session, 3, 300);
    const { summary, entry } = await engine.compactConversation(session.id, { keep: "none" });
    expect(entry?.blocks).toEqual([{ type: "text", text: summary }]);
    expect((await session.meta()).summary).toBe(summary);
  });

  test("an edit below a summary removes it, and going back restores it", async () => {
    const session = await start();
    await talk(session, 3, 300);
    const [first] = (await session.listMessages({ limit: 1 })).messages;
    const { summary, entry } = await session.compact({ keep: { messages: 2 } });
    await session.edit(first?.id ?? "", "another question");
    expect((await session.meta()).summary).toBeNull();
    await session.branch(entry?.id ?? null);
    expect((await session.meta()).summary).toBe(summary);
  });

  test("the policy claw keeps its messages whatever their size, and writes claw-code's summary", async () => {
    const session = await start();
    await talk(session, 6, 2_000);
    const policy = clawPolicy({ inputTokens: 5_000 }, {});
    const { compaction } = await autoCompaction({ policy }).afterTurn(session);
    expect(compaction?.removed).toBe(8);
    expect(compaction?.summary).toMatch(/^<summary>\nConversation summary:/);
    const two = clawPolicy({ inputTokens: 5_000, messages: 2, cooldownMessages: 0 }, {});
    expect((await autoCompaction({ policy: two }).afterTurn(session)).compaction?.removed).toBe(2);
  });

  test("the preset claw has its two numbers, and excludes keep", async () => {
    const session = await start();
    await talk(session, 4, 100);
    expect((await session.compact({ preset: "claw" })).entry).toBeNull();
    const preset = { name: "claw", messages: 3, tokens: 500 } as const;
    await expect(session.compact({ preset, keep: "none" })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "preset" },
    });
    const { removed, summary } = await session.compact({ preset });
    expect([removed, summary?.startsWith("<summary>")]).toEqual([5, true]);
    await talk(session, 2, 100);
    const rich = await session.compact({ preset, profile: "rich" });
    expect(rich.summary).not.toContain("<summary>");
  });

  test("a session with a missing model is compacted without one, with a report", async () => {
    const session = await start({ compaction: { summarizerModel: "fast", triggerTurns: 2 } });
    await talk(session, 3, 300);
    const { compaction, events } = await autoCompaction().afterTurn(session);
    expect(compaction?.summary).toContain("question");
    expect(events.at(-1)).toMatchObject({
      type: "setting_ignored",
      message: expect.stringContaining("summarizerModel fast"),
    });
    const other = await start({ compaction: { summarizerModel: "fast" } });
    await talk(other, 3, 300);
    await expect(other.compact()).rejects.toMatchObject({ code: "model_unavailable" });
    expect((await other.compact({ fallback: "mechanical" })).entry).not.toBeNull();
  });

  test("an answer replaces the aborted one before it", async () => {
    const session = await start();
    const stop = new AbortController();
    const stopping = {
      name: "m",
      async *stream() {
        yield { type: "text", text: "Because " } as const;
        stop.abort();
        throw new Error("stopped");
      },
    };
    const ask = { conversationId: session.id, compaction: false } as const;
    const begun = generateStream(engine, {
      ...ask,
      model: stopping,
      message: "why?",
      signal: stop.signal,
    });
    await expect(begun.result).rejects.toThrow();
    const { entries } = await session.listEntries({ tree: true });
    const stopped = entries.find(({ status }) => status === "aborted");
    const answering = {
      name: "m",
      async *stream() {
        yield { type: "text", text: "Because of the lock." } as const;
        yield { type: "end", finishReason: "stop", usage: null } as const;
      },
    };
    const { entry } = await generate(engine, { ...ask, model: answering });
    expect((await session.getEntry(stopped?.id ?? "")).supersededBy).toBe(entry?.id);
  });

  test("a streamed message has no more blocks than another", async () => {
    const session = await start();
    await using message = await session.openMessage({ role: "assistant" });
    for (let i = 0; i < MAX_BLOCKS - 1; i++) {
      message.hold({ type: "tool_use", id: `${i}`, name: "t", input: {} });
    }
    message.hold("text");
    message.hold(" and more of it");
    const over = () => message.hold({ type: "text", text: "x" });
    expect(over).toThrow(expect.objectContaining({ code: "too_large" }));
    await message.flush();
    const again = await session.continueMessage(message.id, message.lease);
    expect(() => again.hold({ type: "text", text: "x" })).toThrow(/2000/);
    await again.detach();
    expect((await message.commit()).blocks).toHaveLength(MAX_BLOCKS);
  });

  test("a fact names an entry of its session, is stored once, and is filtered by confidence", async () => {
    const session = await start();
    const { id } = await session.append({ role: "user", content: "tea" });
    const other = await start();
    const elsewhere = await other.append({ role: "user", content: "mate" });
    const tea = { subject: "Ana", predicate: "likes", object: "tea" };
    await expect(session.addFacts([{ ...tea, sourceEntry: elsewhere.id }])).rejects.toMatchObject({
      code: "entry_not_found",
    });
    const [kept] = await session.addFacts([{ ...tea, sourceEntry: id, confidence: 0.4 }]);
    const again = await session.addFacts([
      { subject: "ana", predicate: "Likes", object: "tea " },
      { ...tea, object: "mate" },
      { ...tea, object: "mate" },
    ]);
    expect(again.map((fact) => fact.id)).toEqual([kept?.id, again[1]?.id, again[1]?.id]);
    expect(await session.listFacts()).toHaveLength(2);
    const sure = await session.listFacts({ minConfidence: 0.5, limit: 1 });
    expect(sure.map(({ object }) => object)).toEqual(["mate"]);
    await expect(session.listFacts({ minConfidence: 2 })).rejects.toThrow("from 0 to 1");
  });

  test("a threshold of recall is a share of the best score", async () => {
    const session = await start();
    await session.append([
      { role: "user", content: "the narwhal has a long narwhal tusk, said the narwhal" },
      { role: "assistant", content: "yes" },
      { role: "user", content: `a narwhal among ${"other words ".repeat(60)}` },
      { role: "assistant", content: "yes" },
      ...Array.from({ length: 6 }, () => ({ role: "user" as const, content: "filler" })),
      { role: "user", content: "narwhal tusk?" },
    ]);
    const recalled = async (threshold: number) => {
      const { messages } = await session.buildContext({
        recentTurns: 1,
        semanticRecall: { threshold },
      });
      return messages.filter(({ part }) => part === "recalled").length;
    };
    expect(await recalled(1)).toBe(1);
    for (const threshold of [-1, 1.5]) {
      const asked = session.buildContext({ semanticRecall: { threshold } });
      await expect(asked).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  test("limits are refused with the limit, never applied silently", async () => {
    const session = await start();
    const limit = (value: number) => ({ code: "too_large", details: { limit: value } });
    const recall = session.buildContext({ semanticRecall: { k: 21 } });
    await expect(recall).rejects.toMatchObject(limit(20));
    await expect(session.recall("x", { k: 21 }).next()).rejects.toMatchObject(limit(20));
    await expect(engine.searchSessions("x", { limit: 21 })).rejects.toMatchObject(limit(20));
    const wide = engine.searchSessions("x", { contextBefore: 50 });
    await expect(wide).rejects.toMatchObject(limit(15));
    await expect(engine.listSessions({ limit: 501 })).rejects.toMatchObject(limit(500));
  });
});
