/**
 * Arbitrary conversations, compacted repeatedly by every strategy: contexts are always valid,
 * within their budget and complete. Each message is verbatim or covered by exactly one summary; no
 * call is split from its result.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { PROVIDERS, renderContext } from "../src/context/render/render.ts";
import { countBlocks, TOKEN_ESTIMATE } from "../src/context/tokens.ts";
import {
  BackscrollError,
  type CompactInput,
  type Engine,
  type MessageInput,
  open,
  type SessionHandle,
} from "../src/index.ts";
import { requestViolations, VIOLATIONS } from "./support/provider-rules/index.ts";
import { repeats } from "./support/repeats.ts";

/** One step of a random history. */
type Step =
  | { readonly do: "say"; readonly messages: readonly MessageInput[] }
  | { readonly do: "compact"; readonly input: CompactInput }
  | { readonly do: "edit" | "pin" | "unpin" | "branch"; readonly at: number }
  | { readonly do: "abort" };

let calls = 0;

const text = fc.oneof(
  fc.lorem({ maxCount: 12 }),
  fc.constantFrom("日本語の質問。", "todo: finish src/a/b.ts next", "x".repeat(500), "😀"),
);

/** A turn: a question, perhaps calls with results (or without), perhaps an answer. */
const turn: fc.Arbitrary<MessageInput[]> = fc
  .record({
    question: text,
    tools: fc.array(
      fc.record({ name: fc.constantFrom("Bash", "Read"), output: text, answered: fc.boolean() }),
      { maxLength: 3 },
    ),
    long: fc.boolean(),
    together: fc.boolean(),
    answer: fc.option(text, { nil: undefined }),
  })
  .map(({ question, tools, long, together, answer }) => {
    const made = tools.map((tool) => ({ ...tool, id: `call_${++calls}` }));
    const results = made
      .filter(({ answered }) => answered)
      .map(({ id, name, output }) => ({ id, name, output: long ? output.repeat(60) : output }));
    const uses: MessageInput = {
      role: "assistant",
      actor: "coder",
      toolCalls: made.map(({ id, name }) => ({ id, name, arguments: { path: "src/a.ts" } })),
    };
    const replies: MessageInput[] = together
      ? [
          {
            role: "tool",
            content: results.map(({ id, output }) => {
              return { type: "tool_result", toolUseId: id, output, isError: false };
            }),
          },
        ]
      : results.map((result) => ({ role: "tool", toolResults: [result] }));
    return [
      { role: "user" as const, actor: "ana", content: question },
      ...(made.length === 0 ? [] : [uses, ...(results.length === 0 ? [] : replies)]),
      ...(answer === undefined
        ? []
        : [{ role: "assistant" as const, actor: "coder", content: answer }]),
    ];
  });

const input: fc.Arbitrary<CompactInput> = fc.record(
  {
    keep: fc.oneof(
      fc.constantFrom("half" as const, "none" as const),
      fc.nat(6).map((messages) => ({ messages })),
      fc.nat(3_000).map((tokens) => ({ tokens })),
    ),
    limitTokens: fc.integer({ min: 3_000, max: 8_000 }),
    profile: fc.constantFrom("rich" as const, "claw" as const),
    strategy: fc.constantFrom("rolling" as const, "hierarchical" as const),
  },
  { requiredKeys: ["keep"] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: turn.map((messages): Step => ({ do: "say", messages })) },
  { weight: 5, arbitrary: input.map((given): Step => ({ do: "compact", input: given })) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("edit" as const, "pin" as const, "unpin" as const, "branch" as const),
      at: fc.nat(40),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "abort" }) },
);

test("any conversation, however often it is compacted, gives a valid and complete context", async () => {
  await using engine = await open(":memory:");
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 6 }),
      fc.array(step, { minLength: 10, maxLength: 40 }),
      fc.integer({ min: 400, max: 6_000 }),
      (first, steps, budget) => live(engine, first, steps, budget),
    ),
    { numRuns: repeats(3, 40) },
  );
});

test("after each of twenty consecutive compactions, a waiting message has a valid context for every provider", async () => {
  await using engine = await open(":memory:");
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          said: fc.array(turn, { minLength: 1, maxLength: 3 }),
          given: input,
          waits: fc.nat(3),
        }),
        { minLength: 20, maxLength: 20 },
      ),
      (cycles) => compactOften(engine, cycles),
    ),
    { numRuns: repeats(1, 10) },
  );
});

interface Cycle {
  readonly said: readonly MessageInput[][];
  readonly given: CompactInput;
  /** Messages that wait behind the answered one, before the compaction. */
  readonly waits: number;
}

/** False if the context would have grown. */
async function isCompacted(compaction: Promise<unknown>): Promise<boolean> {
  try {
    await compaction;
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "nothing_to_compact", details: { reason: "no_gain" } });
    return false;
  }
}

async function compactOften(engine: Engine, cycles: readonly Cycle[]): Promise<void> {
  let compacted = 0;
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  for (const [i, { said, given, waits }] of cycles.entries()) {
    const asked = Array.from({ length: waits + 1 }, (_, n) => `question ${i}.${n}`);
    await session.append(said.flat());
    const questions: MessageInput[] = asked.map((content) => ({ role: "user", content }));
    const stored = await session.append(questions);
    const [first, ...waiting] = stored;
    const metadata = { replyTo: first?.id ?? "" };
    await session.append({
      role: "assistant",
      actor: "coder",
      content: `This. ${"Word ".repeat(2_000)}`,
      metadata,
    });
    // Keeps none, so that there is always something to cover; its summary may be too long.
    if (await isCompacted(session.compact({ ...given, keep: "none" }))) {
      compacted++;
      expect((await session.listEntries({ limit: 500 })).entries.at(-1)?.kind).toBe("compaction");
    }
    await checkComplete(session);
    for (const { id } of waiting) await checkRequest(session, id, "user");
    for (const { id } of waiting) {
      const calling = { toolCalls: [{ id: `call_${++calls}`, name: "Read", arguments: {} }] };
      const step: MessageInput = { role: "assistant", actor: "coder", ...calling };
      const results = [{ id: `call_${calls}`, name: "Read", output: "ok" }];
      await session.append({ ...step, toolResults: results, metadata: { replyTo: id } });
      await checkRequest(session, id, "tool");
      await session.append({ role: "assistant", content: "That.", metadata: { replyTo: id } });
    }
  }
  expect(compacted).toBeGreaterThan(cycles.length / 2);
  await session.delete();
}

/** The request ends with the message, and possibly its step, and is valid for every provider. */
async function checkRequest(
  session: SessionHandle,
  replyTo: string,
  end: "user" | "tool",
): Promise<void> {
  const { messages } = await session.buildContext({ tokenBudget: 10 ** 6, replyTo });
  const behind = messages.slice(messages.findIndex(({ entryIds }) => entryIds.includes(replyTo)));
  expect(behind.map(({ role }) => role)).toEqual(
    end === "user" ? ["user"] : ["user", "assistant", "tool"],
  );
  expect(requestViolations(messages)).toEqual([]);
}

async function live(
  engine: Engine,
  first: readonly MessageInput[][],
  steps: readonly Step[],
  budget: number,
): Promise<void> {
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  await session.append(first.flat());
  for (const each of steps) {
    await take(session, each);
    await checkComplete(session);
    await checkWithin(session, budget);
  }
  await session.delete();
}

async function take(session: SessionHandle, each: Step): Promise<void> {
  switch (each.do) {
    case "say":
      await session.append(each.messages);
      return;
    case "abort": {
      const reply = await session.openMessage({ role: "assistant", actor: "coder" });
      await reply.write("I was about to");
      await reply.abort();
      return;
    }
    case "compact":
      return compact(session, each.input);
    case "pin": {
      // A covered message would be duplicated.
      const shown = [...(await shownIn(session))];
      const id = shown[each.at % Math.max(1, shown.length)];
      if (id !== undefined) await session.pin(id);
      return;
    }
    default: {
      const { messages } = await session.listMessages({ offset: each.at, limit: 1 });
      const [message] = messages;
      if (message === undefined) return;
      if (each.do === "edit") await session.edit(message.id, "said otherwise");
      else if (each.do === "branch") await session.branch(message.id);
      else await session.unpin(message.id);
    }
  }
}

async function compact(session: SessionHandle, given: CompactInput): Promise<void> {
  try {
    const { entry, tokensAfter, tokensBefore } = await session.compact(given);
    if (entry === null) return;
    expect(tokensBefore).toBeGreaterThan(0);
    const { tokens } = await session.buildContext({ ...ALL, tokenBudget: 10 ** 9 });
    // Less where a shortened result ended below its limit.
    expect(tokens).toBeLessThanOrEqual(tokensAfter);
  } catch (error) {
    if (!BackscrollError.is(error, "nothing_to_compact")) throw error;
  }
}

/** Verbatim entries and those covered by the path's summaries make up the path. */
async function checkComplete(session: SessionHandle): Promise<void> {
  const { entries } = await session.listEntries({ limit: 500 });
  const said = entries.filter(({ kind, status }) => kind === "message" && status === "committed");
  const compactions = entries.filter(({ kind }) => kind === "compaction");
  const facts = compactions.map(({ data }) => data as { covered: number; throughSequence: number });
  const shown = await shownIn(session);
  const covered = facts.reduce((sum, each) => sum + each.covered, 0);
  expect(shown.size + covered).toBe(said.length);
  const through = Math.max(0, ...facts.map(({ throughSequence }) => throughSequence));
  for (const { id, sequence } of said) {
    if (!shown.has(id)) expect(sequence).toBeLessThanOrEqual(through);
  }
}

async function shownIn(session: SessionHandle): Promise<ReadonlySet<string>> {
  const { messages } = await session.buildContext({ ...ALL, tokenBudget: 10 ** 9 });
  const said = messages.filter(({ part }) => part === "recent" || part === "pinned");
  return new Set(said.flatMap(({ entryIds }) => entryIds));
}

/** Under any budget: within it, no pair split, and valid for every provider. */
async function checkWithin(session: SessionHandle, tokenBudget: number): Promise<void> {
  try {
    const { messages, tokens } = await session.buildContext({ tokenBudget });
    expect(tokens).toBeLessThanOrEqual(tokenBudget);
    const counted = messages.map(({ blocks }) => countBlocks(blocks, TOKEN_ESTIMATE));
    expect(counted.reduce((sum, each) => sum + each, 0)).toBe(tokens);
    const blocks = messages.flatMap((message) => message.blocks);
    const ids = (type: string) =>
      new Set(
        blocks.flatMap((block) => {
          if (block.type !== type) return [];
          return block.type === "tool_use"
            ? [block.id]
            : block.type === "tool_result"
              ? [block.toolUseId]
              : [];
        }),
      );
    const uses = ids("tool_use");
    expect([...ids("tool_result")].filter((id) => !uses.has(id))).toEqual([]);
    for (const provider of PROVIDERS) {
      const rendered = renderContext(messages, provider);
      expect(VIOLATIONS[provider](rendered), provider).toEqual([]);
    }
  } catch (error) {
    if (!BackscrollError.is(error, "budget_too_small")) throw error;
    expect(Number(error.details["needed"])).toBeGreaterThan(tokenBudget);
  }
}

const ALL = { recentTurns: 10 ** 6, semanticRecall: false } as const;
