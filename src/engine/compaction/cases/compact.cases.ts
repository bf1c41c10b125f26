import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repeats } from "../../../../test/support/repeats.ts";
import { textOf } from "../../../model/block.ts";
import { isPlainObject } from "../../../model/json.ts";
import {
  barrierOf,
  type ContextCases,
  outline,
  saying,
  turns,
} from "../../context/cases/fixture.cases.ts";
import type { MessageInput } from "../../message-input.ts";
import type { SessionHandle } from "../../session-handle.ts";
import type { CompactInput, KeepInput } from "../compact-options.ts";

export function compactCases({ tenant }: ContextCases): void {
  async function session(messages = turns(10)): Promise<SessionHandle> {
    const handle = await tenant().createSession({ agent: "coder", createdBy: "ana" });
    await handle.append(messages);
    return handle;
  }

  const context = async (handle: SessionHandle) =>
    outline((await handle.buildContext({ tokenBudget: 100_000, semanticRecall: false })).messages);

  const last = (count: number, upTo: number) =>
    Array.from({ length: count }, (_, i) => upTo - count + 1 + i).flatMap((n) => [
      `question ${n}`,
      `answer ${n}`,
    ]);

  describe("compact", () => {
    test("adds an entry that covers older ones, and keeps them in the log", async () => {
      const handle = await session();
      const result = await handle.compact({ keep: { messages: 4 } });
      expect(result.removed).toBe(16);
      expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
      const { entry } = result;
      expect(entry).toMatchObject({ kind: "compaction", parentId: expect.any(String) });
      const data = isPlainObject(entry?.data) ? entry.data : {};
      expect(data).toMatchObject({ throughSequence: 16, summarizer: "mechanical-rich" });
      expect(await context(handle)).toEqual(["summary", ...last(2, 10)]);
      const meta = await handle.meta();
      expect(meta).toMatchObject({ messageCount: 20, entryCount: 21 });
      expect(meta.summary).toContain("question 8");
      expect(meta.summarizedThrough).toBe(data["through"]);
      expect(await handle.listMessages({ limit: 100 })).toMatchObject({ total: 20 });
    });

    test("the summary is searchable at once, and covered messages still are", async () => {
      const engine = tenant();
      const handle = await engine.createSession({ agent: "coder", createdBy: "ana" });
      await handle.append([
        ...turns(3),
        { role: "user", content: "the wombat sleeps" },
        ...turns(3),
      ]);
      await handle.compact({ keep: "none", summarizer: saying("They spoke of a quokka.") });
      expect((await engine.searchSessions("quokka")).hits[0]).toMatchObject({ entryId: null });
      expect((await engine.searchSessions("wombat")).hits[0]?.window.some((w) => w.found)).toBe(
        true,
      );
    });

    test("a second one starts at the first kept entry, and includes the first summary", async () => {
      const handle = await session();
      await handle.compact({ keep: { messages: 4 } });
      await handle.append(turns(3, 500, 11));
      const second = await handle.compact({ keep: { messages: 2 } });
      expect(second.removed).toBe(8);
      expect(await context(handle)).toEqual(["summary", ...last(1, 13)]);
      const { summary } = await handle.meta();
      expect(summary).toContain("24 messages: 12 from the user");
      expect(summary).toContain("question 12");
    });

    test("keeps messages appended while a slow summary is written", async () => {
      const handle = await session();
      const slow = saying("So far.", async () => {
        await handle.append(turns(2, 500, 11));
      });
      await handle.compact({ keep: { messages: 4 }, summarizer: slow });
      expect(await context(handle)).toEqual(["summary", ...last(4, 12)]);
    });

    test("of two concurrent calls one wins, and the other has no effect", async () => {
      const handle = await session();
      const summarizer = saying("So far.", barrierOf(2));
      const outcomes = await Promise.allSettled([
        handle.compact({ keep: { messages: 4 }, summarizer }),
        handle.compact({ keep: { messages: 2 }, summarizer }),
      ]);
      const codes = outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? "done" : outcome.reason.code,
      );
      expect(codes.toSorted()).toEqual(["compaction_conflict", "done"]);
      expect(await handle.meta()).toMatchObject({ entryCount: 21 });
    });

    test("is idempotent under a key, also concurrently", async () => {
      const handle = await session();
      const ask = (messages: number) =>
        handle.compact({ keep: { messages }, idempotencyKey: "again" });
      const [one, two] = await Promise.all([ask(4), ask(4)]);
      const later = await ask(4);
      expect([two.entry?.id, later.entry?.id]).toEqual([one.entry?.id, one.entry?.id]);
      expect(later).toMatchObject({ removed: one.removed, tokensAfter: one.tokensAfter });
      expect(await handle.meta()).toMatchObject({ entryCount: 21 });
      await expect(ask(2)).rejects.toMatchObject({ code: "idempotency_conflict" });
    });

    test("fails if the covered part is edited meanwhile", async () => {
      const handle = await session();
      const { messages } = await handle.listMessages({ limit: 1, offset: 4 });
      const slow = saying("So far.", () => handle.edit(messages[0]?.id ?? "", "another question"));
      await expect(
        handle.compact({ keep: { messages: 4 }, summarizer: slow }),
      ).rejects.toMatchObject({ code: "compaction_conflict" });
      expect(await context(handle)).toEqual([...last(2, 2), "another question"]);
    });

    test("keeps 20,000 tokens by default, or half if the session's metadata asks for compaction", async () => {
      const handle = await session(turns(40));
      const plain = await handle.compact();
      expect(plain.tokensBefore).toBeGreaterThan(38_000);
      expect(plain.removed).toBe(40);
      const own = await session(turns(10));
      await own.update({ metadata: { compaction: { strategy: "rolling" } } });
      expect(await own.compact()).toMatchObject({ removed: 10 });
    });

    test("with too little to cover throws; with claw-code's preset it has no effect", async () => {
      const handle = await session(turns(1));
      const nothing = { code: "nothing_to_compact", details: { sessionId: handle.id } };
      await expect(handle.compact()).rejects.toMatchObject(nothing);
      expect(await handle.compact({ preset: "claw" })).toMatchObject({ entry: null, removed: 0 });
      const empty = await session([{ role: "user", content: "only a question" }]);
      await expect(empty.compact({ keep: "none" })).rejects.toMatchObject({
        code: "nothing_to_compact",
        details: { reason: "nothing_before_cut" },
      });
      const after = await session();
      await after.compact({ keep: "none" });
      await expect(after.compact({ keep: "none" })).rejects.toMatchObject({
        code: "nothing_to_compact",
      });
      expect(await context(after)).toEqual(["summary"]);
    });

    test("never makes the context larger: it says so, and changes nothing", async () => {
      const sizeOf = async (handle: SessionHandle) =>
        (await handle.buildContext({ tokenBudget: 100_000, semanticRecall: false })).tokens;
      const length = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 2_000 }));
      const message = fc.record({ role: fc.constantFrom("user", "assistant"), length });
      const keep = fc.constantFrom<KeepInput>("none", "half", { messages: 1 });
      const how = fc.record({
        keep,
        style: fc.constantFrom("rich", "claw", "host", "hierarchical"),
      });
      const rounds = fc.array(
        fc.record({ said: fc.array(message, { minLength: 1, maxLength: 12 }), how }),
        { minLength: 1, maxLength: 3 },
      );
      const outcomes = new Set<string>();
      await fc.assert(
        fc.asyncProperty(rounds, async (given) => {
          const handle = await tenant().createSession({ agent: "coder", createdBy: "ana" });
          for (const {
            said,
            how: { keep: kept, style },
          } of given) {
            await handle.append(
              said.map(({ role, length: words }) => ({
                role: role as "user",
                content: "word ".repeat(words),
              })),
            );
            const before = { size: await sizeOf(handle), meta: await handle.meta() };
            const input: CompactInput = {
              keep: kept,
              ...(style === "claw" ? { profile: "claw" } : {}),
              ...(style === "hierarchical" ? { strategy: "hierarchical" } : {}),
              ...(style === "host" ? { before: () => ({ summary: "word ".repeat(90) }) } : {}),
            };
            const failure = await handle.compact(input).then(
              () => undefined,
              (error: unknown) => error as { code: string; details: { reason: string } },
            );
            outcomes.add(failure?.details.reason ?? "done");
            if (failure === undefined) {
              expect(await sizeOf(handle)).toBeLessThanOrEqual(before.size);
            } else {
              expect(failure.code).toBe("nothing_to_compact");
              expect(await handle.meta()).toEqual(before.meta);
              expect(await sizeOf(handle)).toBe(before.size);
            }
          }
        }),
        { numRuns: repeats(15, 300) },
      );
      expect([...outcomes]).toEqual(expect.arrayContaining(["done", "no_gain"]));
    });

    test("names both sizes of a context that would grow; retention that erases compacts it", async () => {
      const small: MessageInput[] = [
        { role: "user", content: "hello" },
        { role: "assistant", content: "hi" },
      ];
      const handle = await session(small);
      await expect(handle.compact({ keep: "none" })).rejects.toMatchObject({
        code: "nothing_to_compact",
        message: expect.stringMatching(
          /the summary would be larger than what it replaces \(\d+ tokens of context, now 3\)$/,
        ),
        details: { reason: "no_gain", tokensBefore: 3, tokensAfter: expect.any(Number) },
      });
      expect(await handle.meta()).toMatchObject({ entryCount: 2, summary: null });
      const preset = { name: "claw", messages: 1, tokens: 0 } as const;
      expect(await handle.compact({ preset })).toMatchObject({ entry: null, tokensAfter: 3 });
      await handle.update({ retention: "ephemeral" });
      expect(await handle.compact({ keep: "none" })).toMatchObject({ removed: 2, erased: 2 });
    });

    test("keeps pinned entries, and covers them once they are unpinned", async () => {
      const handle = await session();
      const { messages } = await handle.listMessages({ limit: 1, offset: 2 });
      const rule = messages[0]?.id ?? "";
      await handle.pin(rule);
      const first = await handle.compact({ keep: { messages: 4 } });
      expect(first.removed).toBe(15);
      expect(await context(handle)).toEqual(["pinned", "summary", ...last(2, 10)]);
      await handle.append(turns(2, 500, 11));
      await handle.compact({ keep: { messages: 4 } });
      expect(await context(handle)).toEqual(["pinned", "summary", ...last(2, 12)]);
      await handle.unpin(rule);
      expect(await context(handle)).toEqual(["pinned", "summary", ...last(2, 12)]);
      await handle.append(turns(1, 500, 13));
      const third = await handle.compact({ keep: { messages: 2 } });
      expect(third.removed).toBe(5);
      expect(await context(handle)).toEqual(["summary", ...last(1, 13)]);
    });

    test("meets a limit by shortening long results in contexts; the log keeps them", async () => {
      const output = "x".repeat(80_000);
      const handle = await session([
        ...turns(3),
        { role: "user", content: "read it" },
        {
          role: "assistant",
          toolCalls: [{ id: "t1", name: "read", arguments: {} }],
          toolResults: [{ id: "t1", name: "read", output }],
        },
      ]);
      const { tokensAfter, tokensBefore } = await handle.compact({ limitTokens: 4_000 });
      expect(tokensBefore).toBeGreaterThan(20_000);
      expect(tokensAfter).toBeLessThanOrEqual(4_000);
      const built = await handle.buildContext({ tokenBudget: 100_000, semanticRecall: false });
      expect(built.tokens).toBeLessThanOrEqual(4_000);
      const { messages } = await handle.listMessages({ offset: 8 });
      expect(messages[0]?.blocks[0]).toMatchObject({ output });
    });

    test("calls the host's hook first, which may cancel it or give the summary", async () => {
      const handle = await session();
      const before: CompactInput["before"] = (plan) => {
        expect(plan).toMatchObject({ throughSequence: 16, splitTurn: false });
        return { cancel: true, reason: "not now" };
      };
      await expect(handle.compact({ keep: { messages: 4 }, before })).rejects.toMatchObject({
        code: "compaction_cancelled",
      });
      const { entry } = await handle.compact({
        keep: { messages: 4 },
        before: async () => ({ summary: "In the host's words." }),
      });
      expect(entry?.data).toMatchObject({ fromHook: true, summarizer: "hook" });
      expect((await handle.meta()).summary).toBe("In the host's words.");
    });

    test("refuses an empty summary, or falls back to the mechanical one if allowed", async () => {
      const handle = await session();
      const empty = { keep: { messages: 4 }, summarizer: saying("  ") };
      await expect(handle.compact(empty)).rejects.toMatchObject({ code: "summary_rejected" });
      expect(await handle.meta()).toMatchObject({ summary: null, entryCount: 20 });
      const { entry } = await handle.compact({ ...empty, fallback: "mechanical" });
      expect(entry?.data).toMatchObject({ summarizer: "mechanical-rich", model: null });
    });

    test("requires a model if one is requested", async () => {
      const handle = await session();
      await expect(handle.compact({ summarizer: "model" })).rejects.toMatchObject({
        code: "model_unavailable",
        details: { model: "default" },
      });
      await handle.update({ metadata: { compaction: { summarizerModel: "fast" } } });
      await expect(handle.compact()).rejects.toMatchObject({ details: { model: "fast" } });
    });

    test("with claw-code's preset opens the context with its continuation message", async () => {
      const handle = await session(turns(4, 2_000));
      await handle.compact({ preset: "claw" });
      const { messages } = await handle.buildContext({
        tokenBudget: 50_000,
        semanticRecall: false,
      });
      expect(messages[0]).toMatchObject({ role: "system", part: "summary" });
      const text = textOf(messages[0]?.blocks ?? []);
      expect(text).toMatch(/^This session is being continued from a previous conversation/);
      expect(text).toContain(
        "Summary:\nConversation summary:\n- Scope: 4 earlier messages compacted (user=2, assistant=2, tool=0).",
      );
      expect(text).toContain(
        "\n\nRecent messages are preserved verbatim.\nContinue the conversation",
      );
    });

    test("keeps summaries of summaries, each readable", async () => {
      const handle = await session(turns(4));
      for (let round = 1; round <= 5; round++) {
        await handle.append(turns(4, 300, 4 * round + 1));
        await handle.compact({ keep: { messages: 4 }, strategy: "hierarchical" });
      }
      const { entries } = await handle.listEntries({ limit: 200 });
      const summaries = entries.filter(({ kind }) => kind === "summary");
      const levels = summaries.map(({ data }) => (isPlainObject(data) ? data["level"] : 0));
      expect(levels).toEqual([1, 1, 1, 1, 2, 1]);
      const [a, b, c, d, folded, f] = summaries;
      expect(folded?.data).toMatchObject({ children: [a?.id, b?.id, c?.id, d?.id] });
      const newest = entries.findLast(({ kind }) => kind === "compaction");
      expect(newest?.data).toMatchObject({ summaries: [folded?.id, f?.id] });
      expect(await context(handle)).toEqual(["summary", ...last(2, 24)]);
    });
  });
}
