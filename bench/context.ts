/** `npm run bench -- context`: the cost of contexts and compactions in long sessions. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { planCompaction } from "../src/compaction/plan.ts";
import type { PlanItem } from "../src/compaction/plan-input.ts";
import { fitAll } from "./context-fit.ts";
import type { ContextTask } from "./context-scenarios.ts";
import type { IngestTask } from "./ingest-scenarios.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  Report,
  Timings,
  withFolder,
} from "./measure.ts";
import { startBenchServer } from "./postgres.ts";

const SCENARIOS = new URL("./context-scenarios.ts", import.meta.url);
const EVIDENCE = new URL("./context-evidence.ts", import.meta.url);
const INGEST = new URL("./ingest-scenarios.ts", import.meta.url);
const LENGTHS = [1_000, 10_000, 100_000] as const;

export async function benchContext(options: BenchOptions): Promise<boolean> {
  const report = new Report("context");
  if (options.data !== undefined && !existsSync(join(options.data, "sessions.jsonl"))) {
    await measureFit(options.data, options.folder, report);
    return report.met;
  }
  await withFolder(options.folder, async (folder) => {
    if (options.backends.includes("sqlite")) {
      await benchBackend(options, report, "sqlite", (turns) => join(folder, `context-${turns}.db`));
    }
    if (options.backends.includes("postgres")) {
      await using server = await startBenchServer();
      const addresses = new Map<number, string>();
      for (const turns of LENGTHS) addresses.set(turns, await server.createDatabase());
      await benchBackend(options, report, "postgres", (turns) => addresses.get(turns) ?? "");
    }
  });
  planning(report);
  if (options.recall !== undefined) await measureEvidence(options.recall.data, report);
  return report.met;
}

async function benchBackend(
  { runs, only }: BenchOptions,
  report: Report,
  backend: string,
  addressOf: (turns: number) => string,
): Promise<void> {
  const built = new Map<number, Figures>();
  for (const turns of LENGTHS) {
    const name = `${turns} turns`;
    if (!name.includes(only)) continue;
    const task: ContextTask = { address: addressOf(turns), turns, count: runs === 1 ? 500 : 2_000 };
    await inFreshProcess(SCENARIOS, "fillSession", task);
    const all: Figures[] = [];
    for (let run = 0; run < runs; run++)
      all.push(await inFreshProcess(SCENARIOS, "contexts", task));
    const figures = medians(all);
    built.set(turns, figures);
    report.measurement(backend, `context, ${name}`, runs, figures);
    const compacted = await inFreshProcess(SCENARIOS, "compactions", task);
    report.measurement(backend, `compaction, ${name}`, 1, compacted);
  }
  const [short, middle, long] = LENGTHS.map((turns) => built.get(turns));
  if (middle !== undefined)
    report.bar(`${backend}: context with recall, 10,000 turns, p99 ms`, middle["p99Ms"], 10);
  if (short !== undefined && long !== undefined) {
    const ratio = (long["p50Ms"] ?? Number.NaN) / (short["p50Ms"] ?? Number.NaN);
    report.bar(`${backend}: 100,000 turns take so many times as long as 1,000, p50`, ratio, 2);
  }
}

/** Whether every session of a folder of transcripts gives contexts that fit: see context-fit.ts. */
async function measureFit(data: string, parent: string | undefined, report: Report): Promise<void> {
  await withFolder(parent, async (folder) => {
    const address = join(folder, "fit.db");
    const task: IngestTask = { address, home: folder, path: resolve(data) };
    await inFreshProcess(INGEST, "ingestAll", task);
    const figures = await fitAll({ address });
    report.measurement("sqlite", "fit", 1, figures);
    for (const name of ["failed", "invalid", "overBudget", "notMonotonic"]) {
      report.bar(`contexts: ${name}`, figures[name], 0);
    }
  });
}

/** How often a context has the message that answers a question, without recall and with it. */
async function measureEvidence(data: string, report: Report): Promise<void> {
  for (const k of [0, 4, 8, 16]) {
    const task = { data, tokenBudget: 12_000, k };
    const figures = await inFreshProcess(EVIDENCE, "evidence", task);
    report.measurement("sqlite", `evidence, ${k} recalled`, 1, figures);
    if (k === 8)
      report.bar("questions with an answer in their context, %", figures["some"], 65, true);
  }
}

/** The planner alone, on 10,000 messages with tool calls, after a warm-up. */
function planning(report: Report): void {
  const items = Array.from({ length: 10_000 }, (_, i): PlanItem => {
    const kind = i % 4;
    return {
      id: `e${i}`,
      sequence: i + 1,
      kind: "message",
      role: kind === 0 ? "user" : kind === 2 ? "tool" : "assistant",
      tokens: 100,
      pinned: i % 997 === 0,
      calls: kind === 1 ? [`c${i}`] : [],
      results: kind === 2 ? [`c${i - 1}`] : [],
      resultTokens: kind === 2 ? new Map([[`c${i - 1}`, 90]]) : new Map(),
    };
  });
  const timings = new Timings();
  const options = { summaryTokens: 1_500, previousSummaryTokens: 0, limitTokens: 30_000 };
  for (let i = 0; i < 55; i++) {
    const plan = () => {
      planCompaction(items, { ...options, strategy: { keep: "tokens", tokens: 20_000 } });
    };
    if (i < 5) plan();
    else timings.timeSync(plan);
  }
  report.measurement("none", "plan, 10,000 messages", 1, timings.figures());
  report.bar("planning a compaction of 10,000 messages, p99 ms", timings.percentile(99), 20);
}
