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
const hello = { ...ana, id: "7", text: "Hi" };
const tools = {
  look: { description: "Looks.", inputSchema: { type: "object" as const }, execute: () => "ok" },
};

function looks(...said: readonly string[]): ChatPart[] {
  const texts = said.map((text) => ({ type: "text" as const, text }));
  return [...texts, call("c1", "look"), end(1, 1, "tool-calls")];
}

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  async function answering(answers: readonly Scripted[], config: GatewayConfigInput = {}) {
    const model = scriptedModel(...answers);
    return { ...(await testGateway(config, { model })), model };
  }

  describe("a message that is delivered again", () => {
    test("gets the stored answer after any delay", async () => {
      const { gateway, model } = await answering([say("One."), say("Other.")]);
      await gateway.reply(hello);
      for (let i = 0; i < 30; i++) await gateway.reply({ ...ana, text: `more ${i}` });
      const asked = model.requests.length;
      expect((await gateway.reply(hello)).reply).toBe("One.");
      expect(asked).toBe(model.requests.length);
    });

    test("stays silent if the answer was, also after a tool call", async () => {
      const { gateway, model } = await answering([looks(), say("NO_REPLY"), say("again")]);
      const replies = [
        await gateway.reply(hello, { tools }),
        await gateway.reply(hello, { tools }),
      ];
      for (const reply of replies) {
        expect(reply).toMatchObject({ reply: null, reason: "silent", silent: true });
      }
      expect(model.requests).toHaveLength(2);
    });

    test("gets nothing of a failed attempt", async () => {
      const { gateway } = await answering([looks("Let me look. "), fails, say("It is 5.")]);
      expect(await failureOf(gateway.reply(hello, { tools }))).toMatchObject({ message: "away" });
      expect((await gateway.reply(hello, { tools })).reply).toBe("It is 5.");
      expect((await gateway.reply(hello, { tools })).reply).toBe("It is 5.");
    });

    test("gets the answer that its last step completed", async () => {
      const { gateway, model } = await answering([looks("Looking."), say("second")]);
      const options = { tools, maxSteps: 1 };
      expect((await gateway.reply(hello, options)).reply).toBe("Looking.");
      expect((await gateway.reply(hello, options)).reply).toBe("Looking.");
      expect(model.requests).toHaveLength(1);
    });
  });

  test("the same id from another account is another message", async () => {
    const { gateway } = await answering([say("One."), say("Two."), say("Three.")]);
    const [a, b] = ["bot-a", "bot-b"].map((account) => ({ ...ana, account, id: "17" }));
    expect((await gateway.reply({ ...ana, ...a, text: "hello A" })).reply).toBe("One.");
    expect((await gateway.reply({ ...ana, ...b, text: "hello B" })).reply).toBe("Two.");
    expect((await gateway.reply({ ...ana, ...b, text: "hello B" })).reply).toBe("Two.");
    await gateway.reply({ ...ana, text: "/new" });
    const later = await gateway.reply({
      ...ana,
      account: "bot-c",
      id: "17",
      text: "quite another",
    });
    expect(later).toMatchObject({ reply: "Three.", reason: "answered" });
    expect((await later.inbound.session?.listMessages())?.total).toBe(2);
  });

  test("messages of one conversation are answered one after another", async () => {
    const { gateway, model } = await answering([looks(), say("First."), looks(), say("Second.")]);
    await gateway.inbound({ ...ana, text: "Hello", append: true });
    const asked = ["price?", "colour?"].map((text) => gateway.reply({ ...ana, text }, { tools }));
    const replies = (await Promise.all(asked)).map(({ reply }) => reply);
    expect(replies.toSorted()).toEqual(["First.", "Second."]);
    // The second turn sees the whole of the first answer, and no half of it.
    expect(spoken(model.requests[2]?.messages)).toContain("assistant: First.");
  });

  test("summaries are mechanical where the configured model is absent", async () => {
    const { gateway } = await answering([say("yes")], { compaction: { summarizer: "model" } });
    const compacted: string[] = [];
    const onEvent = ({ type }: { readonly type: string }) => {
      if (type === "compacted") compacted.push(type);
    };
    for (let i = 0; i < 30 && compacted.length === 0; i++) {
      await gateway.reply({ ...ana, text: `${"word ".repeat(300)}${i}` }, { onEvent });
    }
    expect(compacted.length).toBeGreaterThan(0);
  });
});
