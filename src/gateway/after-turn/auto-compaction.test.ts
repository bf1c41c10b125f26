import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import type { Engine } from "../../engine/engine.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { open } from "../../open.ts";
import { piPolicy, turnsPolicy } from "../compaction/auto-policy.ts";
import type { GatewayEvent } from "../compaction/decide.ts";
import { readAutoState } from "../compaction/session-state.ts";
import { autoCompaction } from "./auto-compaction.ts";

/** `count` exchanges of about `tokens` tokens a message; the last one reports `used` tokens. */
async function talk(session: SessionHandle, count: number, tokens = 10, used?: number) {
  const filler = "word ".repeat(Math.ceil((tokens * 4) / 5));
  const exchange: readonly MessageInput[] = [
    { role: "user", actor: "ana", content: `question ${filler}` },
    {
      role: "assistant",
      actor: "coder",
      content: `answer ${filler}`,
      model: "m",
      ...(used === undefined ? {} : { usage: { inputTokens: used, outputTokens: 1 } }),
    },
  ];
  await session.append(Array.from({ length: count }, () => exchange).flat());
}

function outline(events: readonly GatewayEvent[]): string[] {
  return events.map((event) => ("reason" in event ? `${event.type}: ${event.reason}` : event.type));
}

describe.each([
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
])("on %s", (_, newAddress) => {
  let memory: Engine;
  beforeAll(async () => {
    memory = await open(await newAddress(), { inThread: true });
  });
  afterAll(() => memory.close());

  function start(metadata = {}): Promise<SessionHandle> {
    return memory.createSession({ agent: "coder", createdBy: "ana", metadata });
  }

  describe("turns", () => {
    test("compacts the older half once there are more than 50 messages, and counts it", async () => {
      const session = await start();
      const auto = autoCompaction();
      await talk(session, 25, 60);
      expect((await auto.afterTurn(session)).decision.reason).toBe("below_threshold");
      await talk(session, 1, 60);
      const { decision, compaction, events } = await auto.afterTurn(session);
      expect(decision).toMatchObject({ compact: true, numbers: { turns: 52, triggerTurns: 50 } });
      expect(compaction?.removed).toBe(26);
      expect(outline(events)).toEqual(["compaction_decided: over_turns", "compacted"]);
      expect(readAutoState((await session.meta()).metadata).compactionCount).toBe(1);
      const next = await auto.afterTurn(session);
      expect(next.decision).toMatchObject({ reason: "below_threshold", numbers: { turns: 26 } });
    });

    test("counts the tokens of unsummarised messages, independent of the provider's report", async () => {
      const session = await start();
      await talk(session, 5, 900, 100);
      const { decision } = await autoCompaction().afterTurn(session);
      expect(decision.reason).toBe("over_tokens");
    });

    test("follows the session's own settings, and reports invalid ones", async () => {
      const never = await start({ compaction: { strategy: "never" } });
      await talk(never, 30);
      expect((await autoCompaction().afterTurn(never)).decision.reason).toBe("disabled");
      const early = await start();
      await talk(early, 2, 400);
      // As an older version stored it: now it is refused when it is written.
      const metadata = { compaction: { triggerTurns: 3, triggerTokens: "some" } };
      await expect(early.update({ metadata })).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "metadata.compaction.triggerTokens" },
      });
      await memory["engine"].store.updateSession("default", early.id, { metadata }, Date.now());
      const { events } = await autoCompaction().afterTurn(early);
      expect(outline(events)).toEqual([
        "setting_ignored",
        "compaction_decided: over_turns",
        "compacted",
      ]);
    });
  });

  describe("pi", () => {
    const contextWindow = 10_000;
    const auto = (policy = piPolicy()) => autoCompaction({ policy, contextWindow });

    test("compacts over the threshold to well below it, and then stops", async () => {
      const session = await start();
      await talk(session, 12, 300, 5_001);
      const { compaction } = await auto().afterTurn(session);
      expect(compaction?.tokensAfter).toBeLessThanOrEqual(2_500);
      const after = await auto().afterTurn(session);
      expect(after.decision).toMatchObject({ reason: "below_threshold" });
      expect(after.decision.numbers["contextTokens"]).toBeLessThan(5_000);
    });

    test("uses an estimate, marked as such, if no provider reports usage", async () => {
      const session = await start();
      await talk(session, 12, 300);
      const { events, compaction } = await auto().afterTurn(session);
      expect(events[0]).toMatchObject({ estimated: true, compact: true });
      expect(compaction).not.toBeNull();
    });

    test("skips a compaction whose gain is too small, and waits before the next attempt", async () => {
      const session = await start();
      // The host's own instructions fill the window, so a compaction gains nothing.
      await talk(session, 6, 230, 9_000);
      const first = await auto().afterTurn(session);
      expect(outline(first.events)).toEqual([
        "compaction_decided: over_threshold",
        "compaction_skipped: min_gain",
      ]);
      await talk(session, 1, 20, 9_000);
      expect((await auto().afterTurn(session)).decision.reason).toBe("cooling_down");
      await talk(session, 1, 20, 9_000);
      expect((await auto().afterTurn(session)).decision.reason).toBe("over_threshold");
    });

    test("uses the host's token count unless it is stale", async () => {
      const session = await start();
      await talk(session, 2);
      const stale = await auto().afterTurn(session, { contextTokens: 9_999, fresh: false });
      expect(stale.decision.reason).toBe("below_threshold");
      const told = await auto().afterTurn(session, { inputTokens: 4_000, cacheReadTokens: 5_000 });
      expect(told.decision).toMatchObject({ numbers: { contextTokens: 9_000 } });
    });
  });

  test("a failing summarizer is reported and does not fail the turn", async () => {
    const session = await start();
    await talk(session, 30);
    const auto = autoCompaction({ compact: { summarizer: "model" } });
    const { compaction, events } = await auto.afterTurn(session);
    expect(compaction).toBeNull();
    expect(events.at(-1)).toMatchObject({ type: "compaction_skipped", code: "model_unavailable" });
  });

  test.each([
    ["a hook that throws", () => Promise.reject(new Error("a hook of the host"))],
    ["a hook that throws no error", () => Promise.reject("nothing")],
  ])("%s fails no turn, and counts as an attempt", async (_name, before) => {
    const session = await start();
    await talk(session, 30);
    const auto = autoCompaction({ compact: { before } });
    const { compaction, events } = await auto.afterTurn(session);
    expect(compaction).toBeNull();
    expect(events.at(-1)).toMatchObject({ type: "compaction_skipped", reason: "failed" });
    expect((await auto.afterTurn(session)).decision.reason).toBe("cooling_down");
  });

  test("an attempt that cannot be marked is reported and does not fail the turn", async () => {
    const session = await start();
    await talk(session, 30);
    const before = async () => {
      await session.delete();
      return undefined;
    };
    const { events } = await autoCompaction({ compact: { before } }).afterTurn(session);
    expect(events.slice(-2)).toMatchObject([
      { type: "attempt_not_marked", sessionId: session.id },
      { type: "compaction_skipped" },
    ]);
  });

  test("a compaction that is stopped fails no turn", async () => {
    const session = await start();
    await talk(session, 30);
    const stop = new AbortController();
    const before = () => {
      stop.abort();
      return undefined;
    };
    const auto = autoCompaction({ compact: { before } });
    const { events } = await auto.afterTurn(session, undefined, { signal: stop.signal });
    expect(events.at(-1)).toMatchObject({ type: "compaction_skipped", reason: "failed" });
    expect(readAutoState((await session.meta()).metadata).attemptAtMessage).toBe(60);
  });

  test("ignores the mark of an attempt beyond the end of the session", async () => {
    const session = await start({ compactionAttempt: { messageCount: 500 } });
    await talk(session, 30);
    expect((await autoCompaction().afterTurn(session)).decision.reason).toBe("over_turns");
  });

  test("two turns that end together compact once", async () => {
    const session = await start();
    await talk(session, 30, 60);
    const auto = autoCompaction({ policy: turnsPolicy({ cooldownMessages: 0 }) });
    const both = await Promise.all([auto.afterTurn(session), auto.afterTurn(session)]);
    expect(both.filter(({ compaction }) => compaction !== null)).toHaveLength(1);
  });

  test("each overflow keeps less; the policy none compacts nothing", async () => {
    const session = await start();
    await talk(session, 20, 200);
    const none = autoCompaction({ policy: "none", contextWindow: 8_000 });
    expect(await none.makeRoom(session, 1)).toBe(false);
    const auto = autoCompaction({ contextWindow: 8_000 });
    const sizes: number[] = [];
    for (const attempt of [1, 2, 3]) {
      expect(await auto.makeRoom(session, attempt)).toBe(true);
      sizes.push((await session.usage()).contextTokens);
    }
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect((await session.listMessages()).total).toBe(40);
  });
});
