/** Queued messages are stored at once and answered in order. */

import { describe, expect, test } from "vitest";
import type { ChatPart } from "../../context/chat-model.ts";
import type { GatewayConfigInput } from "../config/gateway-config.ts";
import { BACKENDS } from "../gateway.cases.ts";
import {
  call,
  end,
  fails,
  failureOf,
  type Scripted,
  say,
  scriptedModel,
  spoken,
} from "../generate/generate.cases.ts";

const ana = { channel: "telegram", peer: "ana" } as const;
const tools = {
  look: { description: "Looks.", inputSchema: { type: "object" as const }, execute: () => "ok" },
};
const looks: ChatPart[] = [call("c1", "look"), end(1, 1, "tool-calls")];

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  /** A gateway whose model blocks on the first question until `release` is called. */
  async function held(answers: readonly ChatPart[][], config: GatewayConfigInput = {}) {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const [first = [], ...rest] = answers;
    const later: Scripted = async function* () {
      await promise;
      yield* first;
    };
    const model = scriptedModel(later, ...rest);
    const test = await testGateway(config, { model });
    await test.gateway.inbound({ ...ana, text: "Hello", append: true });
    const { session } = await test.gateway.inbound({ ...ana, text: "" });
    const total = async () => (await session?.listMessages())?.total;
    /** All are stored before the first is answered. */
    const replyTo = async (...texts: string[]) => {
      const replies: Promise<{ readonly reply: string | null }>[] = [];
      for (const [i, text] of texts.entries()) {
        replies.push(test.gateway.reply({ ...ana, id: text, text }, { tools }));
        await expect.poll(total).toBe(2 + i);
        if (i === 0) await expect.poll(() => model.requests.length).toBe(1);
      }
      release();
      return (await Promise.all(replies)).map(({ reply }) => reply);
    };
    return { ...test, model, session, replyTo };
  }

  test("each message is answered as the last one of its context", async () => {
    const answers = [looks, say("5."), looks, say("Red."), say("Large.")];
    const { model, replyTo } = await held(answers);
    expect(await replyTo("price?", "colour?", "size?")).toEqual(["5.", "Red.", "Large."]);
    const asked = model.requests.map(({ messages }) => spoken(messages));
    expect(asked[0]).toEqual(["user: Hello", "user: price?"]);
    expect(asked[1]).toEqual(["user: Hello", "user: price?", "assistant: ", "tool: "]);
    const priced = [...(asked[1] ?? []), "assistant: 5."];
    expect(asked[2]).toEqual([...priced, "user: colour?"]);
    expect(asked[3]).toEqual([...priced, "user: colour?", "assistant: ", "tool: "]);
    expect(asked[4]?.at(-1)).toBe("user: size?");
    expect(asked[4]).toContain("assistant: Red.");
  });

  test("a failed message is answered after the later ones", async () => {
    const model = scriptedModel(fails, say("Red."), say("5."));
    const { gateway } = await testGateway({}, { model });
    const price = { ...ana, id: "1", text: "price?" };
    expect(await failureOf(gateway.reply(price))).toMatchObject({ message: "away" });
    expect((await gateway.reply({ ...ana, text: "colour?" })).reply).toBe("Red.");
    expect((await gateway.reply(price)).reply).toBe("5.");
    expect(spoken(model.requests[2]?.messages)).toEqual([
      "user: colour?",
      "assistant: Red.",
      "user: price?",
    ]);
  });

  test("a waiting message is neither summarised nor erased", async () => {
    const { session, model, replyTo } = await held([say("5."), say("Red.")], {
      agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } },
    });
    await session?.update({ retention: "audit-only" });
    await session?.update({ metadata: { compaction: { triggerTurns: 2 } } });
    expect(await replyTo("price?", "colour?")).toEqual(["5.", "Red."]);
    const summaries = await session?.summaries();
    expect(summaries?.length).toBeGreaterThan(0);
    expect(spoken(model.requests[1]?.messages).at(-1)).toBe("user: colour?");
    expect(spoken(model.requests[1]?.messages)).not.toContain("user: Hello");
  });

  test("a message that was summarised before its answer reaches the model verbatim", async () => {
    const model = scriptedModel(fails, say("Red. ".repeat(200)), say("5."));
    const { gateway } = await testGateway({}, { model });
    const price = { ...ana, id: "1", text: "price?" };
    await failureOf(gateway.reply(price));
    const { inbound } = await gateway.reply({ ...ana, text: "colour?" });
    await inbound.session?.compact({ keep: "none" });
    expect((await gateway.reply(price)).reply).toBe("5.");
    const asked = model.requests[2]?.messages ?? [];
    expect(asked.map(({ part }) => part)).toEqual(["summary", "recent"]);
    expect(spoken(asked).at(-1)).toBe("user: price?");
  });

  test.each(["audit-only", "ephemeral"] as const)(
    "one whose answer was erased (%s) has none when it is delivered again",
    async (retention) => {
      const model = scriptedModel(say("One."), say("Two."), say("Three."));
      const { gateway } = await testGateway({}, { model });
      const { inbound } = await gateway.reply({ ...ana, id: "1", text: "first?" });
      await inbound.session?.update({ retention });
      await gateway.reply({ ...ana, id: "2", text: "second?" });
      await inbound.session?.compact({ keep: "none" });
      const again = await gateway.reply({ ...ana, id: "1", text: "first?" });
      expect(again).toMatchObject({ reply: null, reason: "repeated" });
      expect(model.requests).toHaveLength(2);
    },
  );
});
