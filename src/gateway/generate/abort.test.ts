import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatModel, ChatPart } from "../../context/chat-model.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { textOf } from "../../model/block.ts";
import { open } from "../../open.ts";
import type { AiSdkModel } from "../../providers/language-model.ts";
import type { SdkPart } from "../with-memory/memory-turn.ts";
import { withMemory } from "../with-memory/with-memory.ts";
import { call, end, failureOf } from "./generate.cases.ts";
import type { GeneratePart } from "./generate-options.ts";
import { runGenerate } from "./run-generate.ts";

let memory: Engine;
beforeAll(async () => {
  memory = await open(":memory:");
});
afterAll(() => memory.close());

const start = () => memory.createSession({ agent: "coder", createdBy: "ana" });
const rolesOf = async (session: SessionHandle) =>
  (await session.listMessages()).messages.map(({ role }) => role);
const abortedOf = async (session: SessionHandle) =>
  (await session.listEntries({ tree: true })).entries
    .filter(({ status }) => status === "aborted")
    .map(({ blocks }) => textOf(blocks));

/** Lets pending reads and writes run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Two steps, without a look at the signal. `at` is called before each part and at the end. */
function deafModel(at: (moment: string) => unknown): ChatModel {
  const steps: readonly (readonly ChatPart[])[] = [
    [{ type: "text", text: "I look. " }, call("c", "look"), end(1, 1, "tool-calls")],
    [{ type: "text", text: "NO_REPLY is" }, { type: "text", text: " the word" }, end(1, 1)],
  ];
  let asked = 0;
  return {
    name: "deaf",
    async *stream() {
      const step = asked++;
      for (const [i, part] of (steps[step] ?? []).entries()) {
        await at(`step ${step} part ${i}`);
        yield part;
      }
      await at(`step ${step} end`);
    },
  };
}

const COMMITTED = ["user", "assistant", "tool"];

describe("an abort of generate", () => {
  test.each([
    ["step 0 part 0", ["user"], []],
    ["step 0 part 1", ["user"], ["I look. "]],
    ["step 0 part 2", ["user"], ["I look. "]],
    ["step 0 end", ["user"], ["I look. "]],
    ["tool_call", ["user"], ["I look. "]],
    ["tool", ["user"], ["I look. "]],
    ["tool_result", COMMITTED, []],
    ["step 1 part 0", COMMITTED, []],
    ["step 1 part 1", COMMITTED, ["NO_REPLY is"]],
    ["step 1 part 2", COMMITTED, ["NO_REPLY is the word"]],
    ["step 1 end", COMMITTED, ["NO_REPLY is the word"]],
    ["text: NO_REPLY is", COMMITTED, ["NO_REPLY is"]],
    ["text:  the word", COMMITTED, ["NO_REPLY is the word"]],
  ])("at %s commits nothing after it", async (moment, path, aborted) => {
    const session = await start();
    const stop = new AbortController();
    const at = (now: string) => {
      if (now !== moment) return undefined;
      stop.abort();
      return settle();
    };
    const look = { inputSchema: {}, execute: async () => at("tool") ?? "seen" };
    const tell = (part: GeneratePart) =>
      void at(part.type === "text" ? `text: ${part.text}` : part.type);
    const input = { conversationId: session.id, model: deafModel(at), message: "How late?" };
    const more = { tools: { look }, signal: stop.signal, compaction: false } as const;
    const failure = await failureOf(runGenerate(memory, { ...input, ...more }, tell));
    await settle();
    expect(failure).toMatchObject({ code: "model_failed", details: { kind: "aborted" } });
    expect(await rolesOf(session)).toEqual(path);
    expect(await abortedOf(session)).toEqual(aborted);
  });

  test("does not wait for a model that never answers", async () => {
    const session = await start();
    const stop = new AbortController();
    const late = Promise.withResolvers<void>();
    const model: ChatModel = {
      name: "deaf",
      async *stream() {
        setImmediate(() => stop.abort());
        await late.promise;
        yield { type: "text", text: "Too late." };
      },
    };
    const input = { conversationId: session.id, model, message: "Now?", signal: stop.signal };
    const failure = await failureOf(runGenerate(memory, input, () => undefined));
    expect(failure).toMatchObject({ details: { kind: "aborted" } });
    late.resolve();
    await settle();
    expect(await rolesOf(session)).toEqual(["user"]);
  });
});

test("an abort before the store has the commit leaves the message open", async () => {
  const session = await start();
  const stop = new AbortController();
  const message = await session.openMessage({ role: "assistant" });
  await message.write("Half");
  const committed = failureOf(message.commit({}, stop.signal));
  stop.abort();
  expect(await committed).toBe(stop.signal.reason);
  await message.abort();
  expect(await rolesOf(session)).toEqual([]);
  expect(await abortedOf(session)).toEqual(["Half"]);
});

test("an aborted compaction changes nothing", async () => {
  const session = await start();
  const word = "word ".repeat(400);
  await session.append([
    { role: "user", content: word },
    { role: "assistant", content: word },
  ]);
  const stop = new AbortController();
  const summarizer = {
    name: "deaf",
    summarize: async () => {
      stop.abort();
      return { text: "Words.", model: null, finishReason: "stop" };
    },
  };
  const input = { keep: "none", summarizer, signal: stop.signal } as const;
  expect(await failureOf(session.compact(input))).toBe(stop.signal.reason);
  expect(await session.meta()).toMatchObject({ entryCount: 2, summary: null });
});

describe("an abort of a wrapped model that ignores it", () => {
  const prompt = [{ role: "user", content: [{ type: "text", text: "Now?" }] }];
  const base = { specificationVersion: "v3", provider: "x", modelId: "deaf" };
  interface Wrapped {
    doGenerate(call: object): Promise<unknown>;
    doStream(call: object): Promise<{ readonly stream: ReadableStream<SdkPart> }>;
  }
  const wrap = (model: object, session: SessionHandle) =>
    withMemory(model as unknown as AiSdkModel, {
      memory,
      conversationId: session.id,
    }) as unknown as Wrapped;

  test("commits no whole answer", async () => {
    const session = await start();
    const stop = new AbortController();
    const doGenerate = async () => {
      stop.abort();
      return { content: [{ type: "text", text: "Late." }] };
    };
    const model = wrap({ ...base, doGenerate }, session);
    expect(await failureOf(model.doGenerate({ prompt, abortSignal: stop.signal }))).toBe(
      stop.signal.reason,
    );
    expect(await rolesOf(session)).toEqual(["user"]);
  });

  test.each(["in the stream", "at its end"])("%s keeps its text, aborted", async (where) => {
    const session = await start();
    const stop = new AbortController();
    const doStream = async () => ({
      stream: new ReadableStream<SdkPart>({
        start(controller) {
          controller.enqueue({ type: "text-delta", id: "1", delta: "Half." });
          if (where === "at its end") controller.close();
        },
      }),
    });
    const model = wrap({ ...base, doGenerate: doStream, doStream }, session);
    const { stream } = await model.doStream({ prompt, abortSignal: stop.signal });
    const reader = stream.getReader();
    await reader.read();
    stop.abort();
    await failureOf(reader.read());
    await settle();
    expect(await rolesOf(session)).toEqual(["user"]);
    expect(await abortedOf(session)).toEqual(["Half."]);
  });
});
