import { describe, expect, test } from "vitest";
import type { TextModel } from "../model/models.ts";
import type { GatewayConfigInput } from "./config/gateway-config.ts";
import { BACKENDS } from "./gateway.cases.ts";
import { sessionStatus } from "./session-status.ts";

const ana = { channel: "telegram", peer: "4711", append: true } as const;

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  describe("a channel's own resets", () => {
    test.each(["main", "per-peer", "per-channel-peer"] as const)("hold in %s", async (dmScope) => {
      const resetByChannel = { telegram: { mode: "idle", idleMinutes: 10 } } as const;
      const { gateway, engine, at } = await testGateway({ session: { dmScope, resetByChannel } });
      const { session } = await gateway.inbound({ ...ana, channel: " Telegram", text: "a" });
      const status = await sessionStatus(engine, session?.id ?? "", gateway.config);
      expect(status.resetRule).toBe("after 10 minutes of silence");
      at("2026-05-04T12:11:00Z");
      const next = await gateway.inbound({ ...ana, text: "b" });
      expect(next).toMatchObject({ action: "reset", reason: "idle" });
      expect(next.why).toMatch(/after 10 minutes of silence$/);
    });

    test("are not those of another channel in the same conversation", async () => {
      const resetByChannel = { telegram: { mode: "idle", idleMinutes: 10 } } as const;
      const session = { dmScope: "main", resetByChannel } as const;
      const { gateway, at } = await testGateway({ session });
      await gateway.inbound({ ...ana, channel: "slack", text: "a" });
      at("2026-05-04T12:11:00Z");
      const next = await gateway.inbound({ ...ana, channel: "slack", text: "b" });
      expect(next).toMatchObject({ action: "continued", reason: "fresh" });
    });
  });

  test("a thread has its own counters of compactions and flushes", async () => {
    const { gateway } = await testGateway();
    const group = { channel: "slack", chatType: "channel", peer: "C1", sender: "u" } as const;
    const { session } = await gateway.inbound({ ...group, append: true, text: "a" });
    const housekeeping = {
      compactionAttempt: { messageCount: 90 },
      compactionCount: 3,
      memoryFlushAt: 5,
      memoryFlushCompaction: "none",
      memoryFlushCompactionCount: 2,
    };
    await session?.update({ metadata: { ...housekeeping, tone: "dry" } });
    const thread = await gateway.inbound({ ...group, thread: "9", text: "b" });
    expect(thread.action).toBe("forked");
    expect((await thread.session?.meta())?.metadata).toEqual({
      tone: "dry",
      sessionKey: thread.key,
    });
  });

  describe("a message that is delivered twice", () => {
    test("does not trigger the daily reset", async () => {
      const { gateway, at } = await testGateway();
      await gateway.inbound({ ...ana, id: "4", text: "hello" });
      const first = await gateway.inbound({ ...ana, id: "5", text: "pay 10" });
      at("2026-05-05T12:00:00Z");
      const again = await gateway.inbound({ ...ana, id: "5", text: "pay 10" });
      expect(again).toMatchObject({ action: "continued", reason: "repeated" });
      expect(again.entry?.id).toBe(first.entry?.id);
      expect(again.session?.id).toBe(first.session?.id);
    });

    test("is not stored again in the next session", async () => {
      const { gateway, at } = await testGateway();
      const first = await gateway.inbound({ ...ana, id: "5", text: "pay 10" });
      at("2026-05-05T12:00:00Z");
      const next = await gateway.inbound({ ...ana, id: "6", text: "hello" });
      expect(next.action).toBe("reset");
      const again = await gateway.inbound({ ...ana, id: "5", text: "pay 10" });
      expect(again).toMatchObject({ action: "continued", reason: "repeated" });
      expect(again.entry?.id).toBe(first.entry?.id);
      expect((await next.session?.meta())?.messageCount).toBe(1);
    });

    test("does not repeat its reset", async () => {
      const { gateway } = await testGateway();
      await gateway.inbound({ ...ana, id: "1", text: "/new one" });
      await gateway.inbound({ ...ana, id: "2", text: "/new two" });
      const again = await gateway.inbound({ ...ana, id: "1", text: "/new one" });
      expect(again).toMatchObject({ action: "continued", reason: "repeated" });
    });
  });

  describe("instructions for a compaction", () => {
    const UNUSED =
      /^Compacted .*\. Your instructions were not used: no model wrote this summary\.$/;

    async function asked(config: GatewayConfigInput, models: Record<string, TextModel> = {}) {
      const { gateway } = await testGateway(config, { models });
      const { session } = await gateway.inbound({ ...ana, text: "a" });
      for (const text of ["b", "c", "d"]) {
        await session?.append([
          { role: "assistant", content: "word ".repeat(9_000) },
          { role: "user", content: text },
        ]);
      }
      const { answer } = await gateway.inbound({ ...ana, text: "/compact keep the prices" });
      return { answer, summary: (await session?.meta())?.summary };
    }

    /** Repeats its instructions, or answers without a summary. */
    function writer(answers: (wishes: string) => string) {
      const generate = async ({ prompt }: { readonly prompt: string }) => {
        const wishes = /<wishes-1>\n([\s\S]*)\n<\/wishes-1>/.exec(prompt)?.[1] ?? "none";
        return { text: answers(wishes), finishReason: "stop" };
      };
      return { default: { name: "writer", generate } };
    }
    const model = { compaction: { summarizer: "model" } } as const;
    const LONG = "They spoke of words, and of words again, at length and with patience. ".repeat(8);

    test("without effect are reported as unused", async () => {
      expect((await asked({})).answer).toMatch(UNUSED);
    });

    test("reach the model, and its answer is checked as usual", async () => {
      const { answer, summary } = await asked(
        model,
        writer((wishes) => `${LONG} Wanted: ${wishes}.`),
      );
      expect(answer).toMatch(/^Compacted .* tokens became \d+\.$/);
      expect(summary).toContain("Wanted: keep the prices.");
    });

    test("are reported as unused where the model's answer is rejected", async () => {
      const { answer, summary } = await asked(
        model,
        writer(() => "I'm sorry, but I can't help."),
      );
      expect(answer).toMatch(UNUSED);
      expect(summary).not.toContain("sorry");
    });

    test("that are too long are refused with a sentence", async () => {
      const { gateway } = await testGateway();
      await gateway.inbound({ ...ana, text: "a" });
      const { answer } = await gateway.inbound({ ...ana, text: `/compact ${"x".repeat(5_000)}` });
      expect(answer).toMatch(/^Not compacted: instructions /);
    });
  });
});
