/** Several processes run turns of one session: memories are flushed once per cycle. */

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { autoCompaction, type GatewayEvent, piPolicy } from "../../src/gateway/index.ts";
import { type Entry, open, type SessionHandle } from "../../src/index.ts";
import { compatibleModel } from "../../src/models.ts";
import { Child } from "../support/child.ts";
import type { FlushTask, TurnReport } from "../support/flush-runner.ts";
import { createFolder } from "../support/folder.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { createDatabase } from "../support/postgres.ts";
import { isStress } from "../support/repeats.ts";
import { streams } from "../support/streamed-answer.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", async () => join(createFolder(), "flush.db")],
  ["PostgreSQL", createDatabase],
];

/** Leases: long against a busy machine; short where a test waits for expiry. */
const LONG_MS = 30_000;
const SHORT_MS = 4_000;
const PROCESSES = ["ana", "ben", "eve"];
/** Over the soft threshold, over the hard one, and below both: cycles of five turns. */
const USED = [9_000, 16_500, 17_000, 21_000, 21_000];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

async function started(address: string) {
  const engine = await open(address, { inThread: !address.startsWith("postgres") });
  onTestFinished(() => engine.close());
  return { address, session: await engine.createSession({ agent: "coder", createdBy: "ana" }) };
}

/** All entries: fewer than a page. */
async function entriesOf(session: SessionHandle): Promise<Entry[]> {
  return (await session.listEntries({ tree: true, limit: 500 })).entries;
}

/**
 * Flushes per cycle, by their recorded cycle and not by their position: a flush of one process may end
 * after another process, whose own flush failed, has compacted.
 */
function flushesByCycle(entries: readonly Entry[]): number[] {
  const flushes = entries
    .filter(({ kind }) => kind === "custom")
    .map(({ data }) => data as { type: string; data: { compaction?: string | null } })
    .filter(({ type }) => type === "memory_flush")
    .map(({ data }) => data.compaction);
  const compactions = entries.filter(({ kind }) => kind === "compaction");
  const cycles = [null, ...compactions.map(({ id }) => id)];
  return cycles.map((cycle) => flushes.filter((each) => each === cycle).length);
}

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  test("at most one flush per cycle, and a failed one is repeated", async () => {
    const { address, session } = await started(await newAddress());
    let asked = 0;
    let refused = 0;
    server.answer(async (request, response) => {
      // Long enough for the other processes to decide on a flush, too.
      await new Promise((resolve) => setTimeout(resolve, 60));
      // The first of four: on a busy machine there may be fewer.
      if (asked++ % 4 === 0) {
        refused++;
        response.writeHead(400, { "content-type": "application/json" }).end("{}");
      } else await streams({ text: ["NO_REPLY"] })(request, response);
    });
    const runners = PROCESSES.map((name) => {
      const child = new Child("./flush-runner.ts");
      const used = isStress ? [...USED, ...USED] : USED;
      const task = { address, sessionId: session.id, modelUrl: server.url, name, used };
      child.tell({ ...task, leaseMs: LONG_MS } satisfies FlushTask);
      return child;
    });
    await Promise.all(runners.map((child) => child.succeed()));
    const events = runners
      .flatMap((child) => child.said<TurnReport>())
      .flatMap((turn) => turn.events);
    const count = (type: GatewayEvent["type"]) => events.filter((e) => e.type === type).length;
    const cycles = flushesByCycle(await entriesOf(session));
    expect(cycles.length).toBeGreaterThan(2);
    expect(Math.max(...cycles)).toBe(1);
    // Every model call was recorded or failed: no cycle had a second one.
    expect(count("flushed")).toBe(cycles.reduce((sum, each) => sum + each, 0));
    expect([count("flush_failed"), asked]).toEqual([refused, count("flushed") + refused]);
    expect(refused).toBeGreaterThan(0);
  });

  test("a process killed in a flush is followed by another, and only then", async () => {
    const { address, session } = await started(await newAddress());
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    server.answer(
      () => isAsked(),
      (request, response) => streams({ text: ["NO_REPLY"] })(request, response),
    );
    const victim = new Child("./flush-runner.ts");
    const used = [...new Array<number>(8).fill(9_000), 17_000];
    const task = { address, sessionId: session.id, modelUrl: server.url, name: "ana", used };
    victim.tell({ ...task, leaseMs: SHORT_MS } satisfies FlushTask);
    await Promise.race([asked, victim.exited]);
    expect(victim.errors).toBe("");
    const model = compatibleModel({ baseUrl: server.url, model: "noter", maxRetries: 0 });
    const { afterTurn } = autoCompaction({
      policy: piPolicy({ minGainTokens: 0 }),
      contextWindow: 40_000,
      flush: { model, leaseMs: SHORT_MS },
    });
    const meanwhile = await afterTurn(session);
    expect(meanwhile.events.at(-1)).toMatchObject({
      type: "flush_decided",
      flush: false,
      reason: "claimed_elsewhere",
    });
    expect(await victim.kill()).toMatchObject({ signal: "SIGKILL" });
    // A compaction waits for the dead process's lease to expire, and then flushes itself.
    const { events, flush, compaction } = await afterTurn(session, { contextTokens: 21_000 });
    expect(events.map(({ type }) => type)).toEqual([
      "compaction_decided",
      "flush_decided",
      "flushed",
      "compacted",
    ]);
    expect([flush?.memories, compaction === null, server.requests.length]).toEqual([[], false, 2]);
    expect(flushesByCycle(await entriesOf(session))).toEqual([1, 0]);
  });
});
