import { describe, expect, test } from "vitest";
import { textOf } from "../../../model/block.ts";
import type { MessageInput } from "../../message-input.ts";
import type { SessionHandle } from "../../session-handle.ts";
import type { TenantEngine } from "../../tenant-engine.ts";
import { barrierOf, type ContextCases, outline, saying, turns } from "./fixture.cases.ts";

/** Forks, edits, races and unusual sessions. */
export function oddSessionCases({ tenant }: ContextCases): void {
  const talk = async (
    messages: readonly MessageInput[],
    over: { readonly retention?: "audit-only" | "ephemeral" } = {},
    engine: TenantEngine = tenant(),
  ) => {
    const handle = await engine.createSession({ agent: "coder", createdBy: "ana", ...over });
    await handle.append(messages);
    return handle;
  };
  const context = async (handle: SessionHandle) =>
    outline((await handle.buildContext({ tokenBudget: 100_000, semanticRecall: false })).messages);

  describe("a fork of a compacted session", () => {
    test("has the original's context, with a compaction of any size", async () => {
      const handle = await talk(turns(80, 20));
      const { messages } = await handle.listMessages({ limit: 1 });
      await handle.pin(messages[0]?.id ?? "");
      const { entry } = await handle.compact({ keep: { messages: 6 } });
      expect(JSON.stringify(entry?.data).length).toBeGreaterThan(16_384);
      const fork = await handle.fork({ createdBy: "bob" });
      expect(await context(fork)).toEqual(await context(handle));
      expect(await context(fork)).toEqual([
        "pinned",
        "summary",
        ...(await context(handle)).slice(2),
      ]);
      await fork.append(turns(3, 20, 81));
      const next = await fork.compact({ keep: { messages: 2 } });
      expect(next.removed).toBe(10);
      expect(await context(fork)).toEqual(["pinned", "summary", "question 83", "answer 83"]);
      expect((await fork.meta()).summary).toContain("163 messages");
    });

    test("computes stale summaries by its own sequences", async () => {
      const handle = await talk(turns(4, 200));
      const { messages } = await handle.listMessages();
      await handle.branch(messages[1]?.id ?? "");
      await handle.append(turns(4, 200, 5));
      await handle.compact({ keep: { messages: 4 } });
      const fork = await handle.fork({ createdBy: "bob" });
      const kept = (await fork.history({ limit: 2 }))[0];
      await fork.edit(kept?.id ?? "", "said otherwise");
      expect((await fork.summaries()).map(({ stale }) => stale)).toEqual([false]);
    });
  });

  describe("messages appended while a summary is written", () => {
    test("stay, even if the compaction keeps no entry", async () => {
      const handle = await talk(turns(4));
      const during = saying("So far.", () => handle.append(turns(1, 500, 5)));
      await handle.compact({ keep: "none", summarizer: during });
      await handle.append(turns(1, 500, 6));
      const all = ["summary", "question 5", "answer 5", "question 6", "answer 6"];
      expect(await context(handle)).toEqual(all);
      const { removed } = await handle.compact({ keep: { messages: 2 } });
      expect(removed).toBe(2);
    });

    test("are not erased before a summary covers them", async () => {
      const handle = await talk(turns(4), { retention: "audit-only" });
      const during = saying("So far.", () => handle.append(turns(1, 500, 5)));
      await handle.compact({ keep: "none", summarizer: during });
      expect(await context(handle)).toEqual(["summary", "question 5", "answer 5"]);
      await handle.append(turns(2, 500, 6));
      await handle.compact({ keep: { messages: 2 }, summarizer: saying("And on.") });
      const { messages } = await handle.listMessages({ limit: 20 });
      expect(messages.map(({ erased }) => erased)).toEqual([
        ...Array.from({ length: 12 }, () => true),
        false,
        false,
      ]);
    });
  });

  test("an edit of a kept message keeps the summary of erased ones", async () => {
    const handle = await talk(turns(6), { retention: "audit-only" });
    await handle.compact({ keep: { messages: 4 }, summarizer: saying("IMPORTANT") });
    const kept = (await handle.history({ limit: 2 }))[0];
    await handle.edit(kept?.id ?? "", "said otherwise");
    expect(await context(handle)).toEqual(["summary", "question 5", "answer 5", "said otherwise"]);
    await handle.append([{ role: "assistant", content: "answer 6" }, ...turns(1, 500, 7)]);
    await handle.compact({ keep: { messages: 2 } });
    expect((await handle.meta()).summary).toContain("12 messages");
  });

  test("usage after a compaction counts all kept entries, independent of earlier reports", async () => {
    const usage = { inputTokens: 9, outputTokens: 9, cacheCreationTokens: 0, cacheReadTokens: 0 };
    const measured = turns(10).map((message) =>
      message.role === "assistant" ? { ...message, model: "m", usage } : message,
    );
    const handle = await talk(measured);
    const { tokensAfter } = await handle.compact({ keep: { messages: 12 } });
    expect(await handle.usage()).toMatchObject({ contextTokens: tokensAfter, estimated: true });
  });

  test("the first call after a compaction or a branch ignores the old report", async () => {
    const engine = tenant();
    const call = (text: string): MessageInput[] => [
      { role: "user", content: text },
      { role: "assistant", content: "ok", model: "m" },
    ];
    const handle = await talk(turns(10), {}, engine);
    await handle.append(call("one"));
    await handle.compact({ keep: { messages: 2 }, summarizer: saying("So far.") });
    await handle.append(call("two"));
    const { messages } = await handle.listMessages({ limit: 1 });
    await handle.branch(messages[0]?.id ?? "");
    await handle.append(call("three"));
    const { changes } = await engine.listChanges({ limit: 500 });
    const figures = changes
      .filter(({ kind }) => kind === "context_usage")
      .map(({ details }) => Number(details["contextTokens"]));
    expect(figures[0]).toBeGreaterThan(9_000);
    expect(figures[1]).toBeLessThan(1_000);
    expect(figures[2]).toBeLessThan(1_000);
  });

  test("one participant's view excludes pinned, recalled and recent messages of others", async () => {
    const handle = await talk([
      { role: "user", actor: "bob", content: "the lemur of bob" },
      { role: "user", actor: "bob", content: "a rule of bob" },
      ...turns(6, 20),
    ]);
    const { messages } = await handle.listMessages({ limit: 2 });
    await handle.pin(messages[1]?.id ?? "");
    await handle.compact({ keep: { messages: 2 }, summarizer: saying("They talked.") });
    await handle.append({ role: "user", actor: "ana", content: "what of the lemur?" });
    const view = await handle.buildContext({
      tokenBudget: 9_000,
      filterParticipants: ["ana", "coder"],
    });
    const said = view.messages.map(({ blocks }) => textOf(blocks)).join("\n");
    expect(said).not.toContain("of bob");
    const all = await handle.buildContext({ tokenBudget: 9_000 });
    expect(all.messages.map(({ part }) => part)).toContain("recalled");
  });

  test("a session of agents only fits any budget", async () => {
    const handle = await talk(
      Array.from({ length: 200 }, (_, i) => ({
        role: "assistant" as const,
        actor: "coder",
        content: `step ${i} ${"x".repeat(400)}`,
      })),
    );
    const { messages, tokens } = await handle.buildContext({ tokenBudget: 2_000 });
    expect(tokens).toBeLessThanOrEqual(2_000);
    expect(outline(messages).at(-1)).toBe("step 199");
    expect(messages.length).toBeGreaterThan(3);
  });

  test("a result of megabytes in the newest turn is shortened in one pass", async () => {
    const handle = await talk([
      { role: "user", content: "read it" },
      {
        role: "assistant",
        toolCalls: [{ id: "t", name: "read", arguments: {} }],
        toolResults: [{ id: "t", name: "read", output: "😀x".repeat(1_500_000) }],
      },
    ]);
    const { tokens, shortened } = await handle.buildContext({ tokenBudget: 20_000 });
    expect(shortened).toBe(1);
    expect(tokens).toBeLessThanOrEqual(20_000);
    expect(tokens).toBeGreaterThan(10_000);
  });

  test("of two compactions with the same coverage after a branch, one wins", async () => {
    const handle = await talk(turns(6));
    const { entry } = await handle.compact({ keep: { messages: 4 }, summarizer: saying("one") });
    await handle.branch(entry?.parentId ?? null);
    const barrier = barrierOf(2);
    const twice = await Promise.allSettled([
      handle.compact({ keep: { messages: 4 }, summarizer: saying("two", barrier) }),
      handle.compact({ keep: { messages: 4 }, summarizer: saying("three", barrier) }),
    ]);
    expect(twice.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });
}
