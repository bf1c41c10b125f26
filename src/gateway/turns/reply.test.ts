import { describe, expect, test } from "vitest";
import { textOf } from "../../model/block.ts";
import type { GatewayConfigInput } from "../config/gateway-config.ts";
import { BACKENDS, type TestOptions } from "../gateway.cases.ts";
import {
  fails,
  failureOf,
  type Scripted,
  say,
  scriptedModel,
  spoken,
} from "../generate/generate.cases.ts";

const ana = { channel: "telegram", peer: "ana" } as const;
const NAMED = { agents: { defaults: { model: "default", instructions: "Be kind." } } } as const;

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  /** A gateway whose store has the model that its configuration names. */
  async function answering(
    answers: readonly Scripted[],
    config: GatewayConfigInput = NAMED,
    options: TestOptions = {},
  ) {
    const model = Object.assign(scriptedModel(...answers), { generate });
    const test = await testGateway(config, { models: { default: model }, ...options });
    return { ...test, model };
  }

  const generate = async () => ({ text: "a title", finishReason: "stop" });

  describe("a reply", () => {
    test("is the configured model's answer to the stored message", async () => {
      const { gateway, model } = await answering([say("Hello ", "Ana.")]);
      const { reply, reason, inbound, entry, silent } = await gateway.reply({ ...ana, text: "Hi" });
      expect({ reply, reason, silent }).toEqual({
        reply: "Hello Ana.",
        reason: "answered",
        silent: false,
      });
      expect(model.requests[0]?.instructions).toBe("Be kind.");
      expect(spoken(model.requests[0]?.messages)).toEqual(["user: Hi"]);
      expect(entry?.metadata).toMatchObject({ replyTo: inbound.entry?.id });
      expect((await inbound.session?.listMessages())?.total).toBe(2);
    });

    test("is null for a silent answer, and where the route denies delivery", async () => {
      const { gateway, engine } = await answering([say("NO_REPLY"), say("secret")]);
      const first = await gateway.reply({ ...ana, text: "Hi" });
      expect(first).toMatchObject({ reply: null, reason: "silent", silent: true });
      await engine.routes.patch(first.inbound.key, { sendPolicy: "deny", reasoningLevel: "on" });
      const denied = await gateway.reply({ ...ana, text: "Hi?" });
      expect(denied).toMatchObject({ reply: null, reason: "denied", silent: false, thoughts: [] });
      expect(textOf(denied.entry?.blocks ?? [])).toBe("secret");
      expect(await gateway.reply({ ...ana, text: "/status" })).toMatchObject({
        reply: null,
        reason: "denied",
        entry: null,
      });
    });

    test("is the gateway's own answer to a command, without a model call", async () => {
      const { gateway, model } = await answering([say("a")]);
      await gateway.reply({ ...ana, text: "Hi" });
      const replies: [string, RegExp][] = [
        ["/status", /agent:main:telegram:direct:ana/],
        ["/compact", /^Not compacted: there is nothing/],
        ["/new", /^A new session has begun\.$/],
      ];
      for (const [text, expected] of replies) {
        const { reply, reason } = await gateway.reply({ ...ana, text });
        expect(reply).toMatch(expected);
        expect(reason).toBe("command");
      }
      expect(await gateway.reply({ ...ana, text: "" })).toMatchObject({ reason: "empty" });
      expect(model.requests).toHaveLength(1);
      const after = await gateway.reply({ ...ana, text: "/new And now?" });
      expect(after.reply).toBe("a");
      expect(spoken(model.requests[1]?.messages)).toEqual(["user: And now?"]);
    });

    test("is null, with the reason, where no model is configured", async () => {
      const { gateway, model } = await answering([say("a")], {});
      const { reply, reason, inbound } = await gateway.reply({ ...ana, text: "Hi" });
      expect({ reply, reason }).toEqual({ reply: null, reason: "no_model" });
      expect(inbound.entry).not.toBeNull();
      const given = await gateway.reply({ ...ana, text: "Hi" }, { model });
      expect(given.reply).toBe("a");
    });

    test("to automatic input does not count as activity", async () => {
      const { gateway, at } = await answering([say("Tick.")]);
      await gateway.reply({ ...ana, text: "Hi" });
      at("2026-05-04T13:00:00Z");
      const { reply, inbound } = await gateway.reply({ ...ana, kind: "heartbeat", text: "beat" });
      expect([reply, inbound.reason]).toEqual(["Tick.", "housekeeping"]);
      const meta = await inbound.session?.meta();
      expect(meta?.lastInteractionAt).toBe(Date.parse("2026-05-04T12:00:00Z"));
    });

    test("comes from the store's model that the route names, if it exists", async () => {
      const [slow, fast] = [scriptedModel(say("slow")), scriptedModel(say("fast"))];
      const models = { default: { ...slow, generate }, fast: { ...fast, generate } };
      const { gateway, engine } = await testGateway(NAMED, { models });
      const { inbound, reply } = await gateway.reply({ ...ana, text: "Hi" });
      await engine.routes.patch(inbound.key, { modelOverride: "fast" });
      const followed = await gateway.reply({ ...ana, text: "Hi" });
      await engine.routes.patch(inbound.key, { modelOverride: "huge" });
      const events: string[] = [];
      const onEvent = (event: { readonly type: string; readonly message?: string }) => {
        if (event.type === "setting_ignored") events.push(event.message ?? "");
      };
      const ignored = await gateway.reply({ ...ana, text: "Hi" }, { onEvent });
      expect([reply, followed.reply, ignored.reply]).toEqual(["slow", "fast", "slow"]);
      expect(events).toEqual(["the route asks for huge, which names no model of the store"]);
    });

    test("fails for a model that is unknown or only writes summaries", async () => {
      const named = { agents: { defaults: { model: "big" } } };
      const { gateway } = await testGateway(named, { models: { big: { name: "b", generate } } });
      expect(await failureOf(gateway.reply({ ...ana, text: "Hi" }))).toMatchObject({
        code: "model_unavailable",
        message: expect.stringMatching(/has no stream; the message is stored$/),
      });
    });
  });

  describe("a message that is delivered again", () => {
    const hello = { ...ana, id: "7", text: "Hi" };

    test("gets the same reply without a model call", async () => {
      const { gateway, model } = await answering([say("One."), say("Two.")]);
      const first = await gateway.reply(hello);
      const again = await gateway.reply(hello);
      expect([first.reply, again.reply, again.entry?.id]).toEqual([
        "One.",
        "One.",
        first.entry?.id,
      ]);
      const silent = await answering([say("NO_REPLY"), say("Two.")]);
      await silent.gateway.reply(hello);
      expect(await silent.gateway.reply(hello)).toMatchObject({ reply: null, reason: "silent" });
      expect([model.requests.length, silent.model.requests.length]).toEqual([1, 1]);
    });

    test("while its answer is in progress waits for it", async () => {
      const { gateway, model } = await answering([say("One."), say("Two.")]);
      const both = await Promise.all([gateway.reply(hello), gateway.reply(hello)]);
      expect(both.map(({ reply }) => reply)).toEqual(["One.", "One."]);
      expect(model.requests).toHaveLength(1);
    });

    test("after a model failure is answered then, and stored once", async () => {
      const { gateway, engine } = await answering([fails, say("At last.")]);
      const failure = await failureOf(gateway.reply(hello));
      expect(failure).toMatchObject({ message: "away" });
      const { reply, inbound } = await gateway.reply(hello);
      expect(reply).toBe("At last.");
      const { messages } = await engine.listMessages(inbound.session?.id ?? "");
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    });

    test("after a reset is not answered in the new session", async () => {
      const { gateway, model } = await answering([say("One."), say("Two.")]);
      await gateway.reply(hello);
      await gateway.reply({ ...ana, text: "/new" });
      expect(await gateway.reply(hello)).toMatchObject({ reply: null, reason: "repeated" });
      expect(model.requests).toHaveLength(1);
    });

    test("stops on its signal", async () => {
      const { gateway } = await answering([say("One.")]);
      const options = { signal: AbortSignal.abort() };
      expect(await failureOf(gateway.reply(hello, options))).toMatchObject({
        code: "model_failed",
        details: { kind: "aborted" },
      });
      expect((await gateway.reply(hello)).reply).toBe("One.");
    });
  });
});
