import { describe, expect, test } from "vitest";
import { textOf } from "../model/block.ts";
import { BACKENDS } from "./gateway.cases.ts";
import type { InboundMessage } from "./inbound-message.ts";

const ANA = { channel: "telegram", peer: "4711" };

function say(text: string, over: Partial<InboundMessage> = {}): InboundMessage {
  return { ...ANA, text, append: true, ...over };
}

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  describe("a message", () => {
    test("starts a session, and the next message continues it", async () => {
      const { gateway } = await testGateway();
      const first = await gateway.inbound(say("Hello", { displayName: "Ana" }));
      expect(first).toMatchObject({
        key: "agent:main:telegram:direct:4711",
        action: "created",
        reason: "first",
        text: "Hello",
        actor: "4711",
        answer: null,
        previousSessionId: null,
        deliver: true,
      });
      expect(first.route?.fields).toEqual({
        provider: "telegram",
        displayName: "Ana",
        compactionCount: 0,
      });
      const second = await gateway.inbound(say("Again"));
      expect(second).toMatchObject({ action: "continued", reason: "fresh" });
      expect(second.session?.id).toBe(first.session?.id);
      // An unchanged route is not written.
      expect(second.route?.version).toBe(first.route?.version);
      const meta = await gateway.tenant.getSessionMeta(first.session?.id ?? "");
      expect(meta).toMatchObject({ agent: "main", createdBy: "4711", messageCount: 2 });
      expect(meta.metadata).toEqual({ sessionKey: "agent:main:telegram:direct:4711" });
    });

    test("is stored only with `append`", async () => {
      const { gateway } = await testGateway();
      const turn = await gateway.inbound({ ...ANA, text: "Hello" });
      expect(turn.entry).toBeNull();
      expect((await turn.session?.meta())?.messageCount).toBe(0);
    });

    test("of another person, channel or group is another conversation", async () => {
      const { gateway } = await testGateway();
      const turns = [
        await gateway.inbound(say("a")),
        await gateway.inbound(say("b", { peer: "4712" })),
        await gateway.inbound(say("c", { channel: "signal" })),
        await gateway.inbound(say("d", { chatType: "group", peer: "-100", sender: "4711" })),
      ];
      expect(new Set(turns.map(({ session }) => session?.id)).size).toBe(4);
      expect(turns.at(-1)).toMatchObject({ actor: "4711", key: "agent:main:telegram:group:-100" });
      expect((await turns[0]?.session?.searchOthers("d"))?.hits.length).toBeGreaterThan(0);
    });

    test("with a new name changes only the label", async () => {
      const { gateway } = await testGateway();
      const first = await gateway.inbound(say("a", { subject: "Old" }));
      await gateway.tenant.routes.patch(first.key, { thinkingLevel: "high" });
      const second = await gateway.inbound(say("b", { subject: "New" }));
      expect(second.action).toBe("continued");
      expect(second.route?.fields).toMatchObject({ subject: "New", thinkingLevel: "high" });
    });

    test("that is delivered twice counts once", async () => {
      const { gateway } = await testGateway();
      await gateway.inbound(say("a", { id: "m1" }));
      await gateway.inbound(say("a", { id: "m1" }));
      const reset = await gateway.inbound(say("/new What now?", { id: "m2" }));
      const again = await gateway.inbound(say("/new What now?", { id: "m2" }));
      expect(again).toMatchObject({ action: "continued", reason: "repeated", text: "What now?" });
      expect(again.session?.id).toBe(reset.session?.id);
      expect((await again.session?.history())?.map(({ blocks }) => textOf(blocks))).toEqual([
        "What now?",
      ]);
      expect(await gateway.tenant.routes.history(reset.key)).toHaveLength(2);
    });

    test("to a key whose session was deleted starts another", async () => {
      const { gateway } = await testGateway();
      const first = await gateway.inbound(say("a"));
      await first.session?.delete();
      const second = await gateway.inbound(say("b"));
      expect(second).toMatchObject({
        action: "created",
        reason: "missing",
        previousSessionId: first.session?.id,
      });
    });

    test("that is refused names its invalid field", async () => {
      const { gateway } = await testGateway();
      const wrong: readonly (readonly [string, object])[] = [
        ["text", { text: 5 }],
        ["peer", { peer: 5 }],
        ["chatType", { chatType: "crowd" }],
        ["kind", { kind: "whisper" }],
        ["key", { key: "agent:main" }],
        ["peer", { peer: "\ud800" }],
        ["append", { append: "yes" }],
      ];
      for (const [field, over] of wrong) {
        await expect(gateway.inbound(say("a", over as never))).rejects.toMatchObject({
          code: "invalid_input",
          details: { field },
        });
      }
    });
  });

  describe("a reset", () => {
    test("by command returns the rest of the text, and keeps the answers' preferences", async () => {
      const { gateway, engine } = await testGateway();
      const first = await gateway.inbound(say("The cron lock is gone", { displayName: "Ana" }));
      await gateway.tenant.routes.patch(first.key, {
        thinkingLevel: "high",
        elevatedLevel: "full",
        modelOverride: "m",
        sendPolicy: "deny",
        totalTokens: 9,
        compactionCount: 3,
        memoryFlushAt: 1,
        memoryFlushCompactionCount: 3,
      });
      const turn = await gateway.inbound(say("/NEW Tell me More"));
      expect(turn).toMatchObject({
        action: "reset",
        reason: "command",
        text: "Tell me More",
        deliver: false,
        previousSessionId: first.session?.id,
      });
      expect(turn.route?.fields).toEqual({
        provider: "telegram",
        displayName: "Ana",
        thinkingLevel: "high",
        sendPolicy: "deny",
        compactionCount: 0,
      });
      expect((await turn.session?.meta())?.metadata).toMatchObject({
        previousSessionId: first.session?.id,
        resetReason: "command",
      });
      // The old session is still found.
      const { hits } = await engine.searchSessions("cron lock");
      expect(hits[0]?.sessionId).toBe(first.session?.id);
      const history = await gateway.tenant.routes.history(turn.key);
      expect(history.map(({ reason }) => reason)).toEqual(["command", "first"]);
    });

    test("keeps the session's retention", async () => {
      const { gateway } = await testGateway();
      const first = await gateway.inbound(say("a"));
      await first.session?.update({ retention: "ephemeral", ttl: 60, metadata: { ticket: 1 } });
      const turn = await gateway.inbound(say("/new b"));
      const meta = await turn.session?.meta();
      expect(meta).toMatchObject({ retention: "ephemeral", ttl: 60 });
      expect(meta?.metadata["ticket"]).toBeUndefined();
    });

    test("without further text is answered, and stores nothing", async () => {
      const { gateway } = await testGateway();
      await gateway.inbound(say("a"));
      const turn = await gateway.inbound(say("/reset"));
      expect(turn).toMatchObject({ action: "reset", text: "", answer: "A new session has begun." });
      expect((await turn.session?.meta())?.entryCount).toBe(0);
    });

    test("is refused for unauthorised senders", async () => {
      const { gateway } = await testGateway();
      await gateway.inbound(say("a"));
      const turn = await gateway.inbound(say("/new b", { authorized: false }));
      expect(turn).toMatchObject({ action: "continued", text: "/new b" });
      expect(await gateway.inbound(say("/status", { authorized: false }))).toMatchObject({
        answer: null,
      });
    });

    test("happens at the daily hour, and keeps only the labels of the place", async () => {
      const { gateway, at } = await testGateway();
      const first = await gateway.inbound(say("a", { displayName: "Ana" }));
      await gateway.tenant.routes.patch(first.key, { thinkingLevel: "high" });
      at("2026-05-05T03:59:59Z");
      expect(await gateway.inbound(say("b"))).toMatchObject({ action: "continued" });
      at("2026-05-05T04:00:00Z");
      const turn = await gateway.inbound(say("c"));
      expect(turn).toMatchObject({ action: "reset", reason: "daily", text: "c" });
      expect(turn.why).toContain("daily at 04:00 (UTC)");
      expect(turn.route?.fields).toEqual({
        provider: "telegram",
        displayName: "Ana",
        compactionCount: 0,
      });
    });

    test("happens after idle time, which automatic input does not interrupt", async () => {
      const config = { session: { reset: { mode: "idle" as const, idleMinutes: 30 } } };
      const { gateway, at } = await testGateway(config);
      const first = await gateway.inbound(say("a"));
      at("2026-05-04T12:20:00Z");
      const handle = await gateway.tenant.getSession(first.session?.id ?? "");
      await handle.append({ role: "assistant", actor: "main", content: "answer" });
      await handle.setTitle("A title");
      await gateway.tenant.routes.patch(first.key, { totalTokens: 5 });
      await gateway.inbound(say("beat", { kind: "heartbeat" }));
      at("2026-05-04T12:30:00.000Z");
      expect(await gateway.inbound(say("beat", { kind: "cron" }))).toMatchObject({
        action: "continued",
        reason: "housekeeping",
      });
      at("2026-05-04T12:30:00.001Z");
      expect(await gateway.inbound(say("/new", { kind: "heartbeat" }))).toMatchObject({
        action: "continued",
        text: "/new",
      });
      expect(await gateway.inbound(say("b"))).toMatchObject({ action: "reset", reason: "idle" });
    });

    test("is done once when several processes start it", async () => {
      const { engine, gateway, at } = await testGateway();
      await gateway.inbound(say("a"));
      at("2026-05-05T12:00:00Z");
      const turns = await Promise.all(
        Array.from({ length: 8 }, (_, i) => gateway.inbound(say(`b${i}`))),
      );
      expect(turns.filter((turn) => turn.action === "reset")).toHaveLength(1);
      expect(new Set(turns.map((turn) => turn.session?.id)).size).toBe(1);
      expect((await engine.listSessions()).sessions).toHaveLength(2);
      const [one] = turns;
      expect((await one?.session?.meta())?.messageCount).toBe(8);
    });
  });

  describe("a thread", () => {
    const group = { channel: "slack", peer: "C042", chatType: "channel" as const, sender: "ana" };

    test("forks its parent conversation, and then diverges", async () => {
      const { gateway } = await testGateway();
      const above = await gateway.inbound(say("The lock is gone", group));
      await above.session?.update({ metadata: { facts: { enabled: true } } });
      const thread = await gateway.inbound(say("Why?", { ...group, thread: "17" }));
      expect(thread).toMatchObject({
        action: "forked",
        reason: "thread",
        key: "agent:main:slack:channel:C042:thread:17",
      });
      const meta = await thread.session?.meta();
      expect(meta).toMatchObject({ parentSessionId: above.session?.id, messageCount: 2 });
      expect(meta?.metadata).toEqual({ sessionKey: thread.key, facts: { enabled: true } });
      expect((await above.session?.meta())?.messageCount).toBe(1);
      const reset = await gateway.inbound(say("/new b", { ...group, thread: "17" }));
      expect((await reset.session?.meta())?.parentSessionId).toBeNull();
    });

    test("starts empty where the parent is empty or too long", async () => {
      const { gateway } = await testGateway({ session: { parentForkMaxTokens: 50 } });
      const alone = await gateway.inbound(say("a", { ...group, peer: "C043", thread: "1" }));
      expect(alone).toMatchObject({ action: "created", reason: "first" });
      await gateway.inbound(say("long ".repeat(200), group));
      const thread = await gateway.inbound(say("Why?", { ...group, thread: "17" }));
      expect(thread).toMatchObject({ action: "created", reason: "first" });
    });
  });

  describe("a command", () => {
    test("gives the session's status, and starts nothing", async () => {
      const { gateway, engine } = await testGateway();
      const none = await gateway.inbound(say("/status"));
      expect(none).toMatchObject({ session: null, answer: expect.stringContaining("no session") });
      expect((await engine.listSessions()).sessions).toEqual([]);
      await gateway.inbound(say("a"));
      const { answer, session } = await gateway.inbound(say(" /Status "));
      expect(answer?.split("\n")).toEqual([
        `Session ${session?.id} (agent:main:telegram:direct:4711)`,
        expect.stringMatching(
          /^Context \d+ of 200,000 tokens \(0 %, estimated\), compacted never$/,
        ),
        "Reset daily at 04:00 (UTC); next 2026-05-05 04:00",
      ]);
      expect(await gateway.inbound(say("/status of the build?"))).toMatchObject({ answer: null });
    });

    test("compacts, or gives the reason why not", async () => {
      const told: string[] = [];
      const { gateway } = await testGateway(
        {},
        {
          compact: (session, instructions) => {
            told.push(instructions);
            return session.compact({ keep: { messages: 1 } });
          },
        },
      );
      await gateway.inbound(say("a"));
      const not = await gateway.inbound(say("/compact"));
      expect(not.answer).toMatch(/^Not compacted: /);
      for (const text of ["b ", "c ", "d "].map((word) => word.repeat(500))) {
        const { session } = await gateway.inbound(say(text));
        await session?.append({ role: "assistant", actor: "main", content: text });
      }
      const done = await gateway.inbound(say("/compact Keep the names"));
      expect(done.answer).toMatch(/^Compacted \d+ entries: \d+ tokens became \d+\.$/);
      expect(told).toEqual(["", "Keep the names"]);
    });
  });
});
