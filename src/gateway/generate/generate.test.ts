import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../engine/engine.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { textOf } from "../../model/block.ts";
import { open } from "../../open.ts";
import { MAX_RECOVERIES, WINDOWS_NAMESPACE } from "../compaction/fit-window.ts";
import { call, end, failureOf, overflows, say, scriptedModel, spoken } from "./generate.cases.ts";
import { generate, generateStream } from "./generate.ts";
import type { GeneratePart } from "./generate-options.ts";
import { generateTitle } from "./generate-title.ts";

let memory: Engine;
beforeAll(async () => {
  memory = await open(":memory:");
});
afterAll(() => memory.close());

function start(): Promise<SessionHandle> {
  return memory.createSession({ agent: "coder", createdBy: "ana" });
}

/** The log as `actor/role: text or calls`. */
async function logOf(session: SessionHandle): Promise<string[]> {
  const { messages } = await session.listMessages();
  return messages.map(({ actor, role, blocks }) => {
    const said = blocks.map((block) => {
      if (block.type === "tool_use") return `call ${block.id}`;
      if (block.type !== "tool_result") return textOf([block]);
      return `${block.isError ? "error" : "result"} ${block.toolUseId}: ${String(block.output)}`;
    });
    return `${actor}/${role}: ${said.join(" | ")}`;
  });
}

async function partsOf(stream: AsyncIterable<GeneratePart>): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of stream) {
    if (part.type === "event") continue;
    parts.push(part.type === "text" ? part.text : part.type);
  }
  return parts;
}

describe("an answer", () => {
  test("is stored after the user's message, with its model, its usage and its window", async () => {
    const session = await start();
    const model = scriptedModel(say("Because ", "the lock is gone."));
    const { text, entry, message, steps, usage, finishReason, silent } = await generate(memory, {
      conversationId: session.id,
      model,
      message: "Why twice?",
      contextWindow: 50_000,
    });
    expect(text).toBe("Because the lock is gone.");
    expect([steps, finishReason, silent]).toEqual([1, "stop", false]);
    expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    expect(entry).toMatchObject({ model: "scripted", actor: "coder", usage: { inputTokens: 10 } });
    expect(message?.actor).toBe("ana");
    expect(await logOf(session)).toEqual([
      "ana/user: Why twice?",
      "coder/assistant: Because the lock is gone.",
    ]);
    const { changes } = await memory.listChanges({ limit: 500 });
    const told = changes.filter(
      (change) => change.kind === "context_usage" && change.sessionId === session.id,
    );
    expect(told).toHaveLength(1);
    expect(told[0]?.details).toMatchObject({ contextTokens: 15, contextWindow: 50_000 });
  });

  test("finds the user's message stored when the model is called", async () => {
    const session = await start();
    let seen: string[] = [];
    const model = scriptedModel(async function* () {
      seen = await logOf(session);
      yield* say("Yes.");
    });
    await generate(memory, { conversationId: session.id, model, message: "Here?" });
    expect(seen).toEqual(["ana/user: Here?"]);
  });

  test("is given the whole conversation and the host's instructions", async () => {
    const session = await start();
    const model = scriptedModel(say("One."), say("Two."));
    const input = { conversationId: session.id, model, instructions: "Be brief." };
    await generate(memory, { ...input, message: "First?" });
    await generate(memory, { ...input, message: "Second?" });
    expect(spoken(model.requests[1]?.messages)).toEqual([
      "user: First?",
      "assistant: One.",
      "user: Second?",
    ]);
    expect(model.requests[1]?.instructions).toBe("Be brief.");
  });

  test("that fails keeps the user's message, and a call without a message tries again", async () => {
    const session = await start();
    const model = scriptedModel(async function* () {
      yield { type: "text", text: "Half an ans" } as const;
      throw new Error("the line is dead");
    }, say("Whole."));
    const input = { conversationId: session.id, model };
    const failure = await failureOf(generate(memory, { ...input, message: "Well?" }));
    expect(String(failure)).toContain("the line is dead");
    expect(await logOf(session)).toEqual(["ana/user: Well?"]);
    const { text, message } = await generate(memory, input);
    expect([text, message]).toEqual(["Whole.", null]);
    expect(await logOf(session)).toEqual(["ana/user: Well?", "coder/assistant: Whole."]);
  });

  test("streams to readers that come twice, late or never", async () => {
    const session = await start();
    const model = scriptedModel(say("Be", "cause."));
    const stream = generateStream(memory, { conversationId: session.id, model, message: "Why?" });
    expect(await partsOf(stream)).toEqual(["start", "Be", "cause."]);
    const texts: string[] = [];
    for await (const text of stream.textStream) texts.push(text);
    expect(texts).toEqual(["Be", "cause."]);
    expect((await stream.result).text).toBe("Because.");
    const unread = generateStream(memory, { conversationId: session.id, model, message: "Again?" });
    expect((await unread.result).text).toBe("Because.");
  });

  test("under an idempotency key stores the message once", async () => {
    const session = await start();
    const input = { conversationId: session.id, message: "Once.", idempotencyKey: "k" };
    await failureOf(generate(memory, { ...input, model: scriptedModel(() => overflows()) }));
    await generate(memory, { ...input, model: scriptedModel(say("Done.")) });
    expect(await logOf(session)).toEqual(["ana/user: Once.", "coder/assistant: Done."]);
  });
});

describe("silence", () => {
  test("is stored, marked, and delivers no part of its text", async () => {
    const session = await start();
    const model = scriptedModel(say("NO", "_REP", "LY"));
    const stream = generateStream(memory, { conversationId: session.id, model, message: "tick" });
    expect(await partsOf(stream)).toEqual([]);
    const { silent, text, entry, message } = await stream.result;
    const marks = { silent: true, replyTo: message?.id };
    expect([silent, text, entry.metadata]).toEqual([true, "", marks]);
    const { changes } = await memory.listChanges({ limit: 500 });
    const opened = changes.filter(
      ({ kind, sessionId }) => sessionId === session.id && /^message_(opened|chunk)$/.test(kind),
    );
    expect(opened).toEqual([]);
    expect(await logOf(session)).toEqual(["ana/user: tick", "coder/assistant: NO_REPLY"]);
  });

  test("after text and a tool call keeps that text", async () => {
    const session = await start();
    const look = { inputSchema: {}, execute: () => "seen" };
    const model = scriptedModel(
      [...say("I look. ").slice(0, 1), call("c", "look"), end(1, 1)],
      say("NO_REPLY"),
    );
    const input = { conversationId: session.id, model, message: "tick", tools: { look } };
    const { text, silent, entry } = await generate(memory, input);
    expect([text, silent, entry.metadata["silent"]]).toEqual(["I look. ", false, true]);
  });

  test("needs more than a mention of the token", async () => {
    const session = await start();
    const model = scriptedModel(say("NO_REPLY", " is a token."));
    const stream = generateStream(memory, { conversationId: session.id, model, message: "What?" });
    expect(await partsOf(stream)).toEqual(["start", "NO_REPLY is a token."]);
  });

  test("can be switched off, or match the beginning only", async () => {
    const session = await start();
    const ask = (silence: "leading" | false, text: string) =>
      generate(memory, {
        conversationId: session.id,
        model: scriptedModel(say(text)),
        message: "x",
        silence,
      });
    expect((await ask(false, "NO_REPLY")).text).toBe("NO_REPLY");
    expect((await ask("leading", "NO_REPLY, all is well")).silent).toBe(true);
  });

  test("a heartbeat does not keep the session alive", async () => {
    const session = await start();
    const model = scriptedModel(say("NO_REPLY"));
    const before = (await session.meta()).lastInteractionAt;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const input = { conversationId: session.id, model, message: "tick" };
    await generate(memory, { ...input, heartbeat: true });
    expect((await session.meta()).lastInteractionAt).toBe(before);
    await generate(memory, input);
    expect((await session.meta()).lastInteractionAt).toBeGreaterThan(before);
  });
});

describe("a context that is too long", () => {
  async function talkative(): Promise<SessionHandle> {
    // A learned window holds for the model in all sessions of the store.
    const { records } = memory;
    for (const { key } of (await records.list({ namespace: WINDOWS_NAMESPACE })).records) {
      await records.delete(WINDOWS_NAMESPACE, key);
    }
    const session = await start();
    for (let i = 0; i < 12; i++) {
      await session.append([
        { role: "user", actor: "ana", content: `question ${i} ${"word ".repeat(200)}` },
        { role: "assistant", actor: "coder", content: `answer ${i} ${"word ".repeat(200)}` },
      ]);
    }
    return session;
  }

  test("is compacted and sent again, shorter each time", async () => {
    const session = await talkative();
    const model = scriptedModel(
      () => overflows(4_000),
      () => overflows(),
      say("At last."),
    );
    const { text, events } = await generate(memory, {
      conversationId: session.id,
      model,
      message: "And now?",
      contextWindow: 20_000,
    });
    expect(text).toBe("At last.");
    const sizes = model.requests.map(({ messages }) => JSON.stringify(messages).length);
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
    expect(sizes[2]).toBeLessThan(sizes[1] ?? 0);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "overflow_retry")).toHaveLength(2);
    expect(types).toContain("compacted");
    expect((await session.listMessages()).total).toBe(26);
  });

  test("fails once it cannot become smaller, with everything stored", async () => {
    const session = await talkative();
    const model = scriptedModel(() => overflows());
    const failure = await failureOf(
      generate(memory, { conversationId: session.id, model, message: "And now?" }),
    );
    expect(failure).toMatchObject({ code: "model_failed", details: { kind: "overflow" } });
    const sizes = model.requests.map(({ messages }) => JSON.stringify(messages).length);
    expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => b - a));
    expect(sizes.length).toBeLessThanOrEqual(MAX_RECOVERIES + 1);
    expect((await session.listMessages()).total).toBe(25);
  });

  test("without a policy is only shortened: the log has no compaction", async () => {
    const session = await talkative();
    const model = scriptedModel(() => overflows(4_000), say("Short."));
    const input = { conversationId: session.id, model, message: "x", compaction: false } as const;
    expect((await generate(memory, input)).text).toBe("Short.");
    expect((await session.usage()).compaction).toBeNull();
  });

  test("that a provider truncated silently is recognised by its usage", async () => {
    const session = await talkative();
    const model = scriptedModel([end(30_000, 0, "length")], say("Now."));
    const input = { conversationId: session.id, model, message: "x", contextWindow: 20_000 };
    expect((await generate(memory, input)).text).toBe("Now.");
    expect((await session.usage()).compaction).not.toBeNull();
  });
});

test("tools run, and are stored with their results", async () => {
  const session = await start();
  const model = scriptedModel(
    [{ type: "text", text: "Let me see." }, call("c1", "add", { a: 1, b: 2 }), end(20, 9)],
    say("It is 3."),
  );
  const add = {
    inputSchema: {},
    execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
  };
  const { text, steps, usage } = await generate(memory, {
    conversationId: session.id,
    model,
    message: "1 + 2?",
    tools: { add },
  });
  expect([text, steps, usage.inputTokens]).toEqual(["Let me see.It is 3.", 2, 30]);
  expect(await logOf(session)).toEqual([
    "ana/user: 1 + 2?",
    "coder/assistant: Let me see. | call c1",
    'add/tool: result c1: {"sum":3}',
    "coder/assistant: It is 3.",
  ]);
});

test("calls whose results cannot be stored get error results", async () => {
  const memory = await open(":memory:", { inThread: true });
  onTestFinished(() => memory.close());
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const read = {
    inputSchema: {},
    execute: async () => {
      const used = (await memory.tenantStatus())?.contentBytes ?? 0;
      await memory.setQuota({ maxContentBytes: used + 2_000 });
      return "word ".repeat(5_000);
    },
  };
  const model = scriptedModel([call("c1", "read"), end(10, 5)], say("never"));
  const input = { conversationId: session.id, message: "Read it.", model, tools: { read } };
  expect(await failureOf(generate(memory, input))).toMatchObject({ code: "quota_exceeded" });
  const stored = await session.history();
  expect(stored.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(stored[2]?.blocks).toMatchObject([{ toolUseId: "c1", isError: true }]);
});

test("a text-only model generates a title", async () => {
  const session = await start();
  await session.append({ role: "user", content: "Why does the cron job run twice?" });
  const asked: string[] = [];
  const model = {
    name: "plain",
    generate: async ({ prompt }: { readonly prompt: string }) => {
      asked.push(prompt);
      return { text: '"A cron job that runs twice."', finishReason: "stop" };
    },
  };
  expect(await generateTitle(session, { model })).toBe("A cron job that runs twice");
  expect(asked).toEqual(["user: Why does the cron job run twice?"]);
  expect((await session.meta()).title).toBe("A cron job that runs twice");
});
