import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../engine/engine.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { open } from "../../open.ts";
import { toolTraffic, unansweredCalls } from "../../transcript/tool-pairs.ts";
import { call, end, failureOf, say, scriptedModel } from "./generate.cases.ts";
import { generate } from "./generate.ts";
import type { GenerateTool } from "./generate-options.ts";

let memory: Engine;
beforeAll(async () => {
  memory = await open(":memory:");
});
afterAll(() => memory.close());

/** A model that makes these calls once; the results as they are stored, `!` before an error. */
async function resultsOf(
  tools: Readonly<Record<string, GenerateTool>>,
  names: readonly string[],
  options: { readonly signal?: AbortSignal; readonly toolTimeoutMs?: number } = {},
) {
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const calls = names.map((name, i) => call(`c${i}`, name, { n: i }));
  const model = scriptedModel([...calls, end(1, 1, "tool-calls")], say("Done."));
  const input = { conversationId: session.id, model, message: "Go.", tools, ...options };
  const failure = await failureOf(generate(memory, input));
  return { results: await storedResults(session), failure, model, session };
}

async function storedResults(session: SessionHandle): Promise<string[]> {
  const { messages } = await session.listMessages();
  expect(unansweredCalls(messages.map(({ blocks }) => toolTraffic(blocks))).size).toBe(0);
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap((b) => (b.type === "tool_result" ? `${b.isError ? "!" : ""}${b.output}` : [])),
  );
}

const tool = (execute: (input: never) => unknown): GenerateTool => ({ inputSchema: {}, execute });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a call", () => {
  test("runs in parallel; results are stored in the order of the calls", async () => {
    const ended: string[] = [];
    const ends = (name: string) => {
      ended.push(name);
      return name;
    };
    const quickEnds = Promise.withResolvers<void>();
    const tools = {
      slow: tool(async () => {
        await quickEnds.promise;
        return ends("slow");
      }),
      quick: tool(() => {
        quickEnds.resolve();
        return ends("quick");
      }),
    };
    const { results } = await resultsOf(tools, ["slow", "quick"]);
    expect([ended, results]).toEqual([
      ["quick", "slow"],
      ["slow", "quick"],
    ]);
  });

  test("that throws gives the model the error, and the turn continues", async () => {
    const broken = tool(() => {
      throw new Error("no such file");
    });
    const { results, failure, model } = await resultsOf({ broken }, ["broken"]);
    expect([results, failure, model.requests.length]).toEqual([["!no such file"], undefined, 2]);
  });

  test.each([
    ["a value outside JSON", () => ({ n: 1n }), /^!.*BigInt/],
    ["nothing", () => undefined, /^$/],
    ["a number", () => 3, /^3$/],
    ["text", () => "as it is", /^as it is$/],
  ])("that gives %s has a result", async (_, execute, expected) => {
    const { results } = await resultsOf({ odd: tool(execute) }, ["odd"]);
    expect(results[0]).toMatch(expected);
  });

  test("of a generator has the last value", async () => {
    const counting = tool(async function* () {
      yield 1;
      yield 2;
    });
    expect((await resultsOf({ counting }, ["counting"])).results).toEqual(["2"]);
  });

  test("of an unknown tool gets an error result", async () => {
    const { results } = await resultsOf({}, ["toString"]);
    expect(results).toEqual(["!There is no tool toString here."]);
  });

  test("that exceeds its timeout is abandoned", async () => {
    const endless = tool(() => new Promise(() => undefined));
    const { results } = await resultsOf({ endless }, ["endless"], { toolTimeoutMs: 20 });
    expect(results).toEqual(["!The tool took longer than 20 ms."]);
  });

  test("with a long result is cut in the middle, never through a character", async () => {
    const long = tool(() => `first ${"€".repeat(60_000)} last`);
    const [result = ""] = (await resultsOf({ long }, ["long"])).results;
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(64 * 1024);
    expect(result).toMatch(/^first €+\n\[\d+ bytes left out\]\n€+ last$/);
  });
});

test("after an abort while tools run, neither the calls nor their results are committed", async () => {
  const stop = new AbortController();
  const tools = {
    quick: tool(() => "done"),
    endless: tool(async () => {
      await pause(5);
      stop.abort();
      return new Promise(() => undefined);
    }),
  };
  const { results, failure, model, session } = await resultsOf(tools, ["quick", "endless"], {
    signal: stop.signal,
  });
  expect(results).toEqual([]);
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "aborted" } });
  expect(model.requests).toHaveLength(1);
  const { entries } = await session.listEntries({ tree: true });
  expect(entries.map(({ role, status, blocks }) => [role, status, blocks.length])).toEqual([
    ["user", "committed", 1],
    ["assistant", "aborted", 2],
  ]);
});

test("a model that never stops calling tools is stopped, with all pairs stored", async () => {
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  let calls = 0;
  const model = scriptedModel(async function* () {
    yield call(`c${calls++}`, "again");
    yield end(1, 1);
  });
  const again = tool(() => "more");
  const { finishReason, steps } = await generate(memory, {
    conversationId: session.id,
    model,
    message: "Go.",
    tools: { again },
    maxSteps: 3,
  });
  expect([finishReason, steps]).toEqual(["tool-calls", 3]);
  expect(await storedResults(session)).toEqual(["more", "more", "more"]);
});
