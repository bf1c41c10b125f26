import { describe, expect, test } from "vitest";
import { BACKENDS, START } from "./gateway.cases.ts";
import { sessionStatus } from "./session-status.ts";

const usage = { inputTokens: 40_000, outputTokens: 1_000, cacheReadTokens: 9_000 };

describe.each(BACKENDS)("on %s", (_, testGateway) => {
  test("a session's status has its key, its context and its next reset", async () => {
    const { gateway, engine, at } = await testGateway({ session: { reset: { idleMinutes: 30 } } });
    const turn = await gateway.inbound({
      channel: "telegram",
      peer: "4711",
      text: `Hello ${"there ".repeat(300)}`,
      append: true,
    });
    const id = turn.session?.id ?? "";
    await turn.session?.append({ role: "assistant", content: "Hi", model: "gpt-4o-mini", usage });
    await turn.session?.update({ metadata: { memoryFlushAt: START - 5 } });
    expect(await sessionStatus(engine, id, gateway.config)).toEqual({
      sessionId: id,
      key: turn.key,
      current: true,
      agent: "main",
      messageCount: 2,
      startedAt: START,
      lastInteractionAt: START,
      contextTokens: 50_000,
      estimated: false,
      model: "gpt-4o-mini",
      window: { tokens: 128_000, source: "catalogue" },
      compactionCount: 0,
      memoryFlushAt: START - 5,
      nextReset: { at: START + 30 * 60_000 + 1, reason: "idle" },
      resetRule: "daily at 04:00 (UTC), or after 30 minutes of silence, whichever comes first",
    });
    await turn.session?.compact({ keep: "none" });
    const compacted = await sessionStatus(engine, id, gateway.config);
    expect(compacted).toMatchObject({ compactionCount: 1, estimated: true });

    at("2026-05-05T12:00:00Z");
    const next = await gateway.inbound({ channel: "telegram", peer: "4711", text: "b" });
    expect(next.action).toBe("reset");
    expect(await sessionStatus(engine, id, gateway.config)).toMatchObject({
      key: turn.key,
      current: false,
      nextReset: null,
      memoryFlushAt: START - 5,
      resetRule: "it is over: its key leads to another session",
    });
  });

  test("an imported route counts the compactions and flushes of the gateway that it comes from", async () => {
    const { gateway, engine } = await testGateway();
    const { id } = await engine.createSession({ agent: "main", createdBy: "ana" });
    const session = engine.session(id);
    await session.append([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi" },
    ]);
    const fields = { compactionCount: 3, memoryFlushAt: START - 5 };
    await engine.routes.put("agent:main:main", { sessionId: id, fields });
    const status = () => sessionStatus(engine, id, gateway.config);
    expect(await status()).toMatchObject({ compactionCount: 3, memoryFlushAt: START - 5 });
    await gateway.afterTurn(session);
    expect((await engine.routes.get("agent:main:main")).fields.compactionCount).toBe(3);
    expect(await status()).toMatchObject({ compactionCount: 3, memoryFlushAt: START - 5 });
  });

  test("a session without a key has no next reset", async () => {
    const { engine } = await testGateway();
    const { id } = await engine.createSession({ agent: "coder", createdBy: "ana" });
    expect(await sessionStatus(engine, id)).toMatchObject({
      key: null,
      current: false,
      nextReset: null,
      contextTokens: 0,
      model: null,
      resetRule: "never automatically: no key leads to it",
    });
    await expect(sessionStatus(engine, "none")).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});
