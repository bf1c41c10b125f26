import { describe, expect, test } from "vitest";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { GatewayConfigInput } from "../config/gateway-config.ts";
import { readConfig } from "../config/read-config.ts";
import { BACKENDS, START } from "../gateway.cases.ts";
import { failureOf, say, scriptedModel } from "../generate/generate.cases.ts";
import { compactionOf } from "./answer-turn.ts";

const ana = { channel: "telegram", peer: "ana", append: true } as const;

describe("the configuration", () => {
  const of = (input: GatewayConfigInput, variables = {}) =>
    compactionOf(readConfig(input, variables).config, { model: scriptedModel() });

  test("gives a policy, a flush, a window and a silence mode", () => {
    const memoryFlush = { softThresholdTokens: 7, prompt: "Notes!", systemPrompt: "Hush." };
    const { compaction, silence } = of({
      compaction: { policy: "pi", reserveTokens: 11, keepRecentTokens: 22 },
      agents: {
        defaults: { contextTokens: 5_000, compaction: { reserveTokensFloor: 33, memoryFlush } },
      },
      session: { timeZone: "Asia/Tokyo" },
      silence: "leading",
    });
    expect(silence).toBe("leading");
    expect(compaction).toMatchObject({
      policy: { name: "pi", reserveTokens: 11, keepRecentTokens: 22, reserveTokensFloor: 33 },
      flush: { ...memoryFlush, timeZone: "Asia/Tokyo" },
      contextWindow: 5_000,
      model: "scripted",
    });
  });

  test("switches compaction and flush off", () => {
    const memoryFlush = { enabled: false };
    const { compaction } = of({
      compaction: { enabled: false, policy: "pi" },
      agents: { defaults: { compaction: { memoryFlush } } },
    });
    expect(compaction).toMatchObject({ policy: { name: "none" }, flush: false });
    expect(compactionOf(readConfig({}).config).compaction.flush).toBe(false);
  });

  test("claw's threshold comes from the environment, then the file; 0 is none", () => {
    const at = (input: object, variables = {}) =>
      of({ compaction: { policy: "claw", ...input } }, variables).compaction.policy;
    const variables = { CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS: "70000" };
    expect(at({ inputTokens: 90_000 })).toMatchObject({ inputTokens: 90_000 });
    expect(at({ inputTokens: 90_000 }, variables)).toMatchObject({ inputTokens: 70_000 });
    expect(at({ inputTokens: 0 })).toMatchObject({ inputTokens: 200_000 });
  });
});

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  async function started(
    config: GatewayConfigInput = {},
    options: Parameters<typeof testGateway>[1] = {},
  ) {
    const test = await testGateway(config, options);
    const { session, key } = await test.gateway.inbound({ ...ana, text: "hello" });
    return { ...test, session: session as SessionHandle, key };
  }

  async function talk(session: SessionHandle, messages: number) {
    const exchanges = Array.from({ length: messages / 2 }, (_, i) => [
      { role: "assistant" as const, content: `answer ${i} ${"word ".repeat(60)}` },
      { role: "user" as const, content: `question ${i} ${"word ".repeat(60)}` },
    ]);
    await session.append(exchanges.flat());
  }

  describe("afterTurn", () => {
    test("compacts as configured, and the route and the status show it", async () => {
      const model = scriptedModel(say("Ana likes tea."));
      const { gateway, engine, session, key } = await started({}, { model });
      await talk(session, 60);
      const usage = { inputTokens: 40, outputTokens: 2 };
      await session.append({ role: "assistant", content: "Hm.", usage });
      const after = await gateway.afterTurn(session);
      expect(after.decision.reason).toBe("over_turns");
      expect(after.flush?.memories).toHaveLength(1);
      expect(after.notices).toEqual([]);
      expect((await engine.routes.get(key)).fields).toMatchObject({
        inputTokens: 40,
        outputTokens: 2,
        totalTokens: 42,
        compactionCount: 1,
        memoryFlushAt: START,
        memoryFlushCompactionCount: 0,
      });
      const { answer } = await gateway.inbound({ ...ana, text: "/status" });
      expect(answer).toMatch(/compacted once\nNotes written 2026-05-04 12:00\n/);
      const { version } = await engine.routes.get(key);
      await gateway.afterTurn(session);
      expect((await engine.routes.get(key)).version).toBe(version);
    });

    test("does nothing where compaction is switched off, and flushes nothing without a model", async () => {
      const off = await started({ compaction: { enabled: false } });
      await talk(off.session, 60);
      expect((await off.gateway.afterTurn(off.session)).decision.reason).toBe("disabled");
      const plain = await started();
      await talk(plain.session, 60);
      const after = await plain.gateway.afterTurn(plain.session);
      expect(after).toMatchObject({ decision: { reason: "over_turns" }, flush: null });
    });

    test("uses the window of the model that answered last", async () => {
      const { gateway, session } = await started({ compaction: { policy: "pi" } });
      const usage = { inputTokens: 110_000, outputTokens: 1 };
      await session.append({ role: "assistant", content: "Hm.", usage, model: "gpt-4o-mini" });
      const { decision } = await gateway.afterTurn(session);
      expect(decision.numbers).toMatchObject({ contextWindow: 128_000, threshold: 108_000 });
    });

    test("leaves a route that has moved on unchanged", async () => {
      const { gateway, engine, session, key } = await started();
      await gateway.inbound({ ...ana, text: "/new" });
      const before = await engine.routes.get(key);
      await gateway.afterTurn(session);
      expect(await engine.routes.get(key)).toEqual(before);
    });
  });

  describe("generate", () => {
    test("applies the configured silence and policy", async () => {
      const model = scriptedModel(say("NO_REPLY, but I talk"));
      const config = { compaction: { enabled: false }, silence: "leading" } as const;
      const { gateway, session } = await started(config, { model });
      await talk(session, 60);
      const result = await gateway.generate({ conversationId: session.id });
      expect(result).toMatchObject({ silent: true, text: "", deliver: true });
      expect(result.events).toMatchObject([
        { type: "compaction_decided", reason: "disabled" },
        { type: "flush_decided", reason: "disabled" },
      ]);
    });

    test("uses the host's choice of model for the route", async () => {
      const [small, large] = [scriptedModel(say("small")), scriptedModel(say("large"))];
      const { gateway, engine, session, key } = await started(
        {},
        {
          model: ({ modelOverride, thinkingLevel }) =>
            modelOverride === "large"
              ? { model: large, providerOptions: { house: { effort: thinkingLevel ?? "low" } } }
              : small,
        },
      );
      const input = { conversationId: session.id, message: "Well?" };
      expect((await gateway.generate(input)).text).toBe("small");
      await engine.routes.patch(key, { modelOverride: "large", thinkingLevel: "high" });
      expect((await gateway.generate(input)).text).toBe("large");
      expect(large.requests[0]?.providerOptions).toEqual({ house: { effort: "high" } });
    });

    test("uses the route's thinking level unless the host sets an effort", async () => {
      const model = scriptedModel(say("a"));
      const { gateway, engine, session, key } = await started({}, { model });
      const conversationId = session.id;
      const ask = async (thinkingLevel: string | null, more = {}) => {
        await engine.routes.patch(key, { thinkingLevel });
        const { events } = await gateway.generate({ conversationId, message: "Hm?", ...more });
        const told = events.filter(({ type }) => type === "setting_ignored");
        return [model.requests.at(-1)?.reasoning, told.length];
      };
      expect(await ask(null)).toEqual([undefined, 0]);
      expect(await ask("high")).toEqual(["high", 0]);
      expect(await ask("off")).toEqual(["none", 0]);
      expect(await ask("galaxy")).toEqual([undefined, 1]);
      expect(await ask("high", { reasoning: "low" })).toEqual(["low", 0]);
      const failure = await failureOf(
        gateway.generate({ conversationId, reasoning: "odd" as never }),
      );
      expect(failure).toMatchObject({ code: "invalid_input", details: { field: "reasoning" } });
    });

    test.each([
      ["max", "max"],
      [null, undefined],
    ] as const)("a choice of the effort %j goes before the level", async (reasoning, sent) => {
      const model = scriptedModel(say("a"));
      const { gateway, engine, session, key } = await started(
        {},
        { model: () => ({ model, reasoning }) },
      );
      await engine.routes.patch(key, { thinkingLevel: "odd" });
      const { events } = await gateway.generate({ conversationId: session.id });
      expect(model.requests[0]?.reasoning).toBe(sent);
      expect(events.some(({ type }) => type === "setting_ignored")).toBe(false);
    });

    test("shows thinking and selects tools by the route", async () => {
      const thought = { type: "thinking", block: { type: "thinking", text: "Tea?" } } as const;
      const model = scriptedModel([thought, ...say("Yes.")]);
      const { gateway, engine, session, key } = await started({}, { model });
      const schema = {
        "~standard": { version: 1, vendor: "test", validate: () => ({ value: 1 }) },
      };
      const input = {
        conversationId: session.id,
        message: "Tea?",
        tools: ({ elevatedLevel }: { readonly elevatedLevel?: string }) =>
          elevatedLevel === "full" ? { shell: { inputSchema: schema } } : {},
      };
      expect((await gateway.generate(input)).thoughts).toEqual([]);
      await engine.routes.patch(key, { reasoningLevel: "on", elevatedLevel: "full" });
      expect((await gateway.generate(input)).thoughts).toEqual(["Tea?"]);
      expect(model.requests.map(({ tools = {} }) => Object.keys(tools))).toEqual([[], ["shell"]]);
      await engine.routes.patch(key, { sendPolicy: "deny" });
      expect((await gateway.generate(input)).thoughts).toEqual([]);
    });

    test("reports an override that it cannot follow, and fails without any model", async () => {
      const { gateway, engine, session, key } = await started();
      const overrides = { modelOverride: "large", providerOverride: "p", authProfileOverride: "a" };
      await engine.routes.patch(key, overrides);
      const conversationId = session.id;
      const { events } = await gateway.generate({ conversationId, model: scriptedModel(say("a")) });
      const told = events.flatMap((event) =>
        event.type === "setting_ignored" ? [event.message] : [],
      );
      expect(told).toEqual([
        "the route asks for the model large; scripted answers",
        "the route asks for the provider p; scripted answers",
        "the route asks for the credentials a; scripted answers",
      ]);
      expect(await failureOf(gateway.generate({ conversationId }))).toMatchObject({
        code: "model_unavailable",
      });
    });

    test("stores the answer and delivers nothing where the route denies it", async () => {
      const model = scriptedModel(say("secret"));
      const { gateway, engine, session, key } = await started({}, { model });
      await engine.routes.patch(key, { sendPolicy: "deny", verboseLevel: "on" });
      const stream = gateway.generateStream({ conversationId: session.id });
      for await (const { type } of stream) expect(type).toBe("event");
      const { text, deliver, entry } = await stream.result;
      expect({ text, deliver }).toEqual({ text: "", deliver: false });
      expect(entry.blocks).toMatchObject([{ text: "secret" }]);
    });

    test("sends a note of a compaction only with verboseLevel on", async () => {
      const model = scriptedModel(say("yes"));
      const { gateway, engine, session, key } = await started({}, { model });
      await engine.routes.patch(key, { verboseLevel: "on" });
      await talk(session, 60);
      const { notices } = await gateway.generate({ conversationId: session.id });
      expect(notices).toEqual(["🧹 Auto-compaction complete (count 1)"]);
      await engine.routes.patch(key, { verboseLevel: "off" });
      await talk(session, 60);
      const next = await gateway.generate({ conversationId: session.id });
      expect(next.events.some(({ type }) => type === "compacted")).toBe(true);
      expect(next.notices).toEqual([]);
    });
  });
});
