import { describe, expect, test } from "vitest";
import { readConfig } from "./config/read-config.ts";
import { type MaintainedSession, planMaintenance } from "./maintain.ts";

const DAY = 86_400_000;
const NOW = 100 * DAY;

function session(id: string, over: Partial<MaintainedSession> = {}): MaintainedSession {
  return {
    sessionId: id,
    lastInteractionAt: NOW,
    contentBytes: 10,
    source: undefined,
    key: undefined,
    shared: false,
    running: false,
    ...over,
  };
}

const old = (days: number) => ({ lastInteractionAt: NOW - days * DAY });

function plan(sessions: readonly MaintainedSession[], maintenance: object = {}) {
  const { config } = readConfig({ session: { maintenance } });
  const planned = planMaintenance(sessions, config.session.maintenance, NOW);
  const gone = planned.deletions.map(({ sessionId, reason }) => `${sessionId} ${reason}`);
  return { gone, ...planned };
}

describe("sessions are deleted", () => {
  test("when the last write is older than the limit, to the millisecond", () => {
    const just = { lastInteractionAt: NOW - 30 * DAY };
    const over = { lastInteractionAt: NOW - 30 * DAY - 1 };
    expect(plan([session("a", just), session("b", over), session("c")]).gone).toEqual(["b age"]);
  });

  test("when there are too many, abandoned ones first", () => {
    const all = [
      session("used", { ...old(20), key: "agent:main:main" }),
      session("old", old(3)),
      session("older", old(4)),
      session("new"),
    ];
    expect(plan(all, { maxEntries: 2 }).gone).toEqual(["older count", "old count"]);
    expect(plan(all, { maxEntries: 1 }).gone).toEqual(["older count", "old count", "new count"]);
    expect(plan(all, { maxEntries: 0 }).gone).toEqual([]);
  });

  test("over the disk budget, down to the high-water mark", () => {
    const all = [1, 2, 3, 4, 5].map((n) => session(`s${n}`, old(10 - n)));
    const none = plan(all, { maxDiskBytes: 50 });
    expect([none.gone, none.contentBytesAfter]).toEqual([[], 50]);
    const some = plan(all, { maxDiskBytes: 49 });
    expect([some.gone, some.contentBytesAfter]).toEqual([["s1 disk", "s2 disk"], 30]);
    const more = plan(all, { maxDiskBytes: 49, highWaterBytes: 10 });
    expect(more.gone).toHaveLength(4);
    expect(plan(all, { maxDiskBytes: 49, highWaterBytes: 1_000 }).gone).toEqual(["s1 disk"]);
  });

  test("never while they run, while a group's key leads to them, or if another agent wrote them", () => {
    const all = [
      session("running", { ...old(90), running: true }),
      session("group", { ...old(90), key: "agent:main:x:group:1", shared: true }),
      session("ingested", { ...old(90), source: "claude-code" }),
      session("ours", old(90)),
    ];
    const rules = { maxEntries: 1, maxDiskBytes: 1 };
    const planned = plan(all, rules);
    expect(planned.gone).toEqual(["ours age"]);
    expect(planned).toMatchObject({
      spared: { running: 1, shared: 1, ingested: 1 },
      overBudget: true,
      sessions: 4,
      contentBytes: 40,
      contentBytesAfter: 30,
    });
    expect(plan(all, { ...rules, ingested: ["codex"] }).gone).toEqual(["ours age"]);
    expect(plan(all, { ...rules, ingested: ["claude-code"] }).gone).toEqual([
      "ingested age",
      "ours age",
    ]);
  });
});
