import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import type { ChatModel, ChatPart } from "../../context/chat-model.ts";
import { TOKEN_ESTIMATE } from "../../context/tokens.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { open } from "../../open.ts";
import { clawPolicy, nonePolicy, piPolicy, turnsPolicy } from "../compaction/auto-policy.ts";
import { readAutoState, readFigures } from "../compaction/session-state.ts";
import { autoCompaction } from "./auto-compaction.ts";
import { flushIfDue } from "./flush-session.ts";
import {
  checkFlush,
  dayOf,
  decideFlush,
  type MemoryFlushOptions,
  softThreshold,
} from "./run-flush.ts";

const SETTINGS = { enabled: true, softThresholdTokens: 4_000, workspaceAccess: "rw" } as const;
const FIGURES = {
  contextTokens: 176_000,
  contextWindow: 200_000,
  fresh: true,
  flushed: false,
  compacting: false,
  heartbeat: false,
};

describe("the decision", () => {
  const reason = (figures = {}, settings = {}, policy = piPolicy()) =>
    decideFlush(policy, { ...SETTINGS, ...settings }, { ...FIGURES, ...figures }).reason;

  test("is yes from the soft threshold on, which derives from the effective reserve", () => {
    expect(reason()).toBe("over_soft_threshold");
    expect(reason({ contextTokens: 175_999 })).toBe("below_soft_threshold");
    // A reserve above the floor moves the flush as it moves the compaction.
    const wide = piPolicy({ reserveTokens: 40_000 });
    expect(softThreshold(wide, 4_000, 200_000)).toBe(156_000);
    expect(softThreshold(piPolicy({ reserveTokensFloor: 0 }), 4_000, 200_000)).toBe(179_616);
  });

  test("has a threshold in a small window, too", () => {
    expect(softThreshold(piPolicy(), 4_000, 6_000)).toBe(1_500);
    expect(softThreshold(clawPolicy({}, {}), 4_000, 6_000)).toBe(196_000);
    expect(softThreshold(turnsPolicy(), 4_000, 200_000)).toBeNull();
  });

  test.each([
    [{ flushed: true }, {}, "already_flushed"],
    [{ fresh: false }, {}, "stale_count"],
    [{ heartbeat: true }, {}, "heartbeat"],
    [{}, { workspaceAccess: "ro" }, "read_only_workspace"],
    [{}, { workspaceAccess: "none" }, "read_only_workspace"],
    [{}, { enabled: false }, "disabled"],
    [{ compacting: true, contextTokens: 5 }, {}, "before_compaction"],
    [{ compacting: true, flushed: true }, {}, "already_flushed"],
    [{ compacting: true, heartbeat: true }, {}, "heartbeat"],
  ])("with %j and %j is %s", (figures, settings, expected) => {
    expect(reason(figures, settings)).toBe(expected);
    expect(decideFlush(nonePolicy(), SETTINGS, FIGURES).reason).toBe("disabled");
  });
});

const END: ChatPart = { type: "end", finishReason: "stop", usage: null };
const say = (text: string): ChatPart[] => [{ type: "text", text }, END];
const remember = (name: string, content: string, id = name): ChatPart => {
  const value = { name, content };
  return { type: "tool_call", id, name: "remember", input: JSON.stringify(value), value };
};

/** Gives the answers in order and repeats the last; throws those that are errors. */
function writer(...answers: readonly (readonly ChatPart[] | Error)[]) {
  const asked: string[] = [];
  const model: ChatModel = {
    name: "writer",
    async *stream({ messages }) {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      const last = messages.at(-1)?.blocks[0];
      asked.push(last?.type === "text" ? last.text : (last?.type ?? ""));
      if (answer instanceof Error) throw answer;
      yield* answer;
    },
  };
  return { model, asked };
}

async function exchange(session: SessionHandle, used: number): Promise<void> {
  const filler = "word ".repeat(1_200);
  await session.append([
    { role: "user", actor: "ana", content: `question ${filler}` },
    {
      role: "assistant",
      actor: "coder",
      content: `answer ${filler}`,
      model: "m",
      usage: { inputTokens: used, outputTokens: 1 },
    },
  ]);
}

/** A window of 40,000: flushes from 16,000 on, compacts above 20,000. */
function auto(flush: MemoryFlushOptions) {
  const options = { policy: piPolicy(), contextWindow: 40_000, now: () => 1_800_000_000_000 };
  return autoCompaction({ ...options, flush });
}

describe.each([
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
])("a flush on %s", (_, newAddress) => {
  let memory: Engine;
  let folder: string;
  beforeAll(async () => {
    memory = await open(await newAddress(), { inThread: true });
    folder = mkdtempSync(join(tmpdir(), "backscroll-flush-"));
  });
  afterAll(async () => {
    await memory.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(used: number, agent = "coder"): Promise<SessionHandle> {
    const session = await memory.createSession({ agent, createdBy: "ana" });
    await exchange(session, used);
    return session;
  }

  test("writes memories, marks the cycle, and happens once before the first compaction", async () => {
    const session = await start(16_000, "noting");
    const { model, asked } = writer(
      [remember("cron", "The lock is in redis."), END],
      say("NO_REPLY"),
    );
    const { flush } = await auto({ model }).afterTurn(session);
    expect(flush).toEqual({ memories: ["cron"] });
    expect((await memory.getMemory("noting", "cron")).content).toBe("The lock is in redis.");
    expect(asked).toEqual([expect.stringContaining("NO_REPLY"), "tool_result"]);
    expect(readAutoState((await session.meta()).metadata)).toMatchObject({
      memoryFlushAt: 1_800_000_000_000,
      memoryFlushCompactionCount: 0,
      memoryFlushCompaction: "none",
    });
    await exchange(session, 17_000);
    const again = await auto({ model }).afterTurn(session);
    expect([again.flush, asked.length]).toEqual([null, 2]);
  });

  test("leaves no message in the conversation, and none that a search would find", async () => {
    const session = await start(16_000, "quiet");
    const { model } = writer([remember("colour", "Ana likes vermilion."), END], say("NO_REPLY"));
    await auto({ model }).afterTurn(session);
    expect((await session.listMessages()).total).toBe(2);
    expect((await memory.searchSessions("vermilion", { session: session.id })).hits).toEqual([]);
    expect(await memory.searchMemory("vermilion", { agent: "quiet" })).toHaveLength(1);
  });

  test("precedes an unannounced compaction, and happens again in the next cycle", async () => {
    const session = await start(5_000);
    for (let i = 0; i < 4; i++) await exchange(session, 25_000);
    const { model, asked } = writer(say("NO_REPLY"));
    const first = await auto({ model }).afterTurn(session);
    expect(first.events.map(({ type }) => type)).toEqual([
      "compaction_decided",
      "flush_decided",
      "flushed",
      "compacted",
    ]);
    for (let i = 0; i < 4; i++) await exchange(session, 16_000);
    await auto({ model }).afterTurn(session);
    await exchange(session, 25_000);
    await auto({ model }).afterTurn(session);
    expect(asked).toHaveLength(2);
  });

  test("happens once when gateways of two processes start it together", async () => {
    const session = await start(16_000);
    // Gateways of one process share a queue, so the test holds the lease itself.
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const { model, asked } = writer(say("NO_REPLY"));
    const claim = session.holdLease("memory-flush", { durationMs: 30_000 }, () => held);
    const turn = await auto({ model }).afterTurn(session);
    expect(turn.events.at(-1)).toMatchObject({ flush: false, reason: "claimed_elsewhere" });
    const used = { contextTokens: 25_000 };
    const compacting = auto({ model }).afterTurn(session, used, {
      signal: AbortSignal.timeout(300),
    });
    expect((await compacting).events.map(({ type }) => type)).not.toContain("flushed");
    expect(asked).toEqual([]);
    free();
    await claim;
    expect((await auto({ model }).afterTurn(session)).flush).toEqual({ memories: [] });
  });

  test("is skipped if another process has done it since", async () => {
    const session = await start(16_000);
    const { model, asked } = writer(say("NO_REPLY"));
    const known = { ...(await readFigures(session, piPolicy(), 40_000, TOKEN_ESTIMATE)) };
    await auto({ model }).afterTurn(session);
    const reasons: string[] = [];
    const late = async (at: typeof known) =>
      flushIfDue({
        session,
        known: at,
        policy: piPolicy(),
        flush: checkFlush({ model }),
        compacting: false,
        turn: {},
        now: 5,
        tell: (event) => reasons.push("reason" in event ? event.reason : event.type),
      });
    await late(known);
    await late({ ...known, compaction: "one that is not there" });
    expect([reasons, asked.length]).toEqual([["already_flushed", "stale_count"], 1]);
  });

  test("that fails is reported, not marked, and retried", async () => {
    const session = await start(16_000);
    const { model, asked } = writer(new Error("no connection"), say("NO_REPLY"));
    const failed = await auto({ model }).afterTurn(session);
    expect(failed.flush).toBeNull();
    expect(failed.events.at(-1)).toMatchObject({ type: "flush_failed", message: "no connection" });
    expect(readAutoState((await session.meta()).metadata).memoryFlushAt).toBeNull();
    expect((await auto({ model }).afterTurn(session)).flush).toEqual({ memories: [] });
    expect(asked).toHaveLength(2);
  });

  test("gives the model the error of a refused note, and keeps the text of a model without tools", async () => {
    const session = await start(16_000, "talker");
    const { model, asked } = writer([remember("big", "x".repeat(9_000)), END], say("Ana is 30."));
    const { flush } = await auto({ model }).afterTurn(session);
    const [name = ""] = flush?.memories ?? [];
    expect(asked).toHaveLength(2);
    expect((await memory.getMemory("talker", name)).content).toBe("Ana is 30.");
  });

  test("also appends to the day's file", async () => {
    const session = await start(16_000, "filing");
    const notes = [
      remember("a", "one\ntwo"),
      remember("b", "three"),
      remember("b", "three", "b2"),
      END,
    ];
    const place = { folder, timeZone: "Pacific/Kiritimati" };
    const { flush } = await auto({
      model: writer(notes, say("NO_REPLY")).model,
      ...place,
    }).afterTurn(session);
    const file = join(folder, "2027-01-15.md");
    expect(flush?.file).toBe(file);
    expect(readFileSync(file, "utf8")).toBe("# 2027-01-15\n\n- **a**: one / two\n- **b**: three\n");
    const other = await start(16_000, "filing");
    const more = [remember("b", "three"), remember("c", "four"), END];
    await auto({ model: writer(more, say("NO_REPLY")).model, ...place }).afterTurn(other);
    expect(readFileSync(file, "utf8")).toMatch(/three\n- \*\*c\*\*: four\n$/);
  });
});

test("uses the user's time zone for the day", () => {
  const midnight = Date.UTC(2026, 0, 1, 0, 30);
  expect(dayOf(midnight, "UTC")).toBe("2026-01-01");
  expect(dayOf(midnight, "America/New_York")).toBe("2025-12-31");
});
