import { describe, expect, test } from "vitest";
import { createDatabase } from "../../test/support/postgres.ts";
import type { GatewayConfigInput } from "./config/gateway-config.ts";
import { START, testGateway } from "./gateway.cases.ts";
import { maintainSessions } from "./maintain.ts";

const DAY = 86_400_000;
const LATER = START + 60 * DAY;

const enforce: GatewayConfigInput = { session: { maintenance: { mode: "enforce" } } };

describe("maintenance", () => {
  test("deletes old sessions with their routes, on both databases", async () => {
    for (const address of [":memory:", await createDatabase()]) {
      const { gateway, engine, at } = await testGateway(enforce, { address });
      const say = (peer: string, over: object = {}) =>
        gateway.inbound({ channel: "telegram", peer, text: "words", append: true, ...over });
      const old = await say("ana");
      const group = await say("-100", { chatType: "group", sender: "ana" });
      const open = await say("ben");
      await (await open.session?.openMessage({ role: "assistant" }))?.write("…");
      const theirs = { agent: "a", createdBy: "a", origin: { source: "codex" } };
      await engine.createSession(theirs);
      at(LATER);
      const fresh = await say("cleo");
      const now = () => LATER;
      const dry = await maintainSessions(engine, gateway.config, { now, dryRun: true });
      expect(dry).toMatchObject({ applied: false, mode: "enforce" });
      expect((await engine.listSessions()).sessions).toHaveLength(5);

      const report = await maintainSessions(engine, gateway.config, { now });
      expect(report.deletions).toEqual(dry.deletions);
      expect(report).toMatchObject({
        applied: true,
        skipped: [],
        sessions: 5,
        deletions: [{ sessionId: old.session?.id, reason: "age", key: old.key }],
        spared: { running: 2, shared: 1, ingested: 1 },
      });
      expect(await engine.routes.find(old.key)).toBeUndefined();
      expect(await engine.findTombstone(old.session?.id ?? "")).toBeDefined();
      const { sessions } = await engine.listSessions();
      const left = sessions.map(({ id }) => id);
      expect(left).toHaveLength(4);
      for (const kept of [group, open, fresh]) expect(left).toContain(kept.session?.id);
      expect((await engine.verify()).problems).toEqual([]);
    }
  });

  test.each(["off", "warn"] as const)("in the mode %s deletes nothing", async (mode) => {
    const { gateway, engine, at } = await testGateway({ session: { maintenance: { mode } } });
    await gateway.inbound({ peer: "ana", text: "words", append: true });
    at(LATER);
    const report = await maintainSessions(engine, gateway.config, { now: () => LATER });
    expect(report).toMatchObject({ applied: false, mode, deletions: [{ reason: "age" }] });
    expect((await engine.listSessions()).sessions).toHaveLength(1);
  });

  test("spares sessions that the host reports as running, and those written to meanwhile", async () => {
    const { gateway, engine, at } = await testGateway(enforce);
    const turn = await gateway.inbound({ peer: "ana", text: "words", append: true });
    const id = turn.session?.id ?? "";
    at(LATER);
    let now = LATER;
    const running = { now: () => now, isRunning: (each: string) => each === id };
    expect((await maintainSessions(engine, gateway.config, running)).deletions).toEqual([]);
    let asked = 0;
    // Free when the plan is made, busy when the deletion comes.
    const busy = { now: () => now, isRunning: () => ++asked > 1 };
    const report = await maintainSessions(engine, gateway.config, busy);
    expect([report.deletions.length, report.skipped]).toEqual([1, [id]]);
    expect(await engine.routes.find(turn.key)).toBeDefined();
    now += DAY;
    const last = await maintainSessions(engine, gateway.config, { now: () => now });
    expect(last.skipped).toEqual([]);
    expect((await engine.listSessions()).sessions).toEqual([]);
  });

  test("keeps a tenant's content under its budget", async () => {
    const maintenance = { mode: "enforce", maxDiskBytes: "20kb", maxEntries: 0 } as const;
    const { gateway, engine, at } = await testGateway({ session: { maintenance } });
    for (let i = 0; i < 10; i++) {
      at(START + i * DAY);
      await gateway.inbound({ peer: `p${i}`, text: "x".repeat(4_000), append: true });
    }
    const now = () => START + 10 * DAY;
    const report = await maintainSessions(engine, gateway.config, { now });
    const status = await engine.tenantStatus();
    expect(report.overBudget).toBe(false);
    expect(status?.contentBytes).toBe(report.contentBytesAfter);
    expect(status?.contentBytes).toBeLessThanOrEqual(20 * 1024 * 0.8);
    const { sessions } = await engine.listSessions();
    expect(sessions.map(({ createdBy }) => createdBy)).toEqual(["p9", "p8", "p7", "p6"]);
  });
});
