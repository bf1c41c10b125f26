/**
 * `npm run bench -- search --messages N`: speed, memory and size of search, beside FTS5 in the same
 * run. The corpus is kept in `--folder` and reused.
 */

import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { coldStart } from "./cold-start.ts";
import { fillStore } from "./fill-store.ts";
import { writeCorpus } from "./ingest-corpus.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  once,
  Report,
  withFolder,
} from "./measure.ts";
import { startBenchServer } from "./postgres.ts";
import type { Filter, QueryTask } from "./search-scenarios.ts";

const SCENARIOS = new URL("./search-scenarios.ts", import.meta.url);
const BESIDE = new URL("./search-beside.ts", import.meta.url);
const FTS5 = new URL("./search-fts5.ts", import.meta.url);
const CACHE_MB = 64;
/** The maximum time of a filtered search, relative to an unfiltered one. */
const FILTER_LIMITS: readonly [Filter, number][] = [
  ["agent", 1.5],
  ["project", 1.5],
  ["session", 1.2],
  ["time", 1.2],
];

export async function benchSearch(options: BenchOptions): Promise<boolean> {
  const report = new Report("search");
  await withCorpusFolder(options, async (folder) => {
    if (options.backends.includes("sqlite")) await benchSqlite(options, folder, report);
    if (options.backends.includes("postgres")) await benchPostgres(options, report);
  });
  return report.met;
}

/** A folder that was named is kept: its corpus is used again. */
async function withCorpusFolder(
  { folder }: BenchOptions,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  if (folder === undefined) return withFolder(undefined, use);
  mkdirSync(folder, { recursive: true });
  return use(folder);
}

async function benchSqlite(options: BenchOptions, folder: string, report: Report): Promise<void> {
  const messages = options.messages;
  const address = join(folder, `search-${messages}.db`);
  const fts5 = join(folder, `search-${messages}.fts5.db`);
  const filled = await once(`${address}.json`, () =>
    fillStore({ address, messages, inThread: false }, folder),
  );
  report.measurement("sqlite", "bulk", 1, filled);
  await once(`${fts5}.json`, () => inFreshProcess(FTS5, "fillFts5", { path: fts5, messages }));

  const run = async (name: string, task: Partial<QueryTask>) => {
    if (!name.includes(options.only)) return undefined;
    const whole: QueryTask = {
      address,
      kind: "question",
      ranking: "plain",
      filter: "none",
      sessions: filled["sessions"] ?? 0,
      cacheMb: CACHE_MB,
      warmUp: 300,
      count: options.runs === 1 ? 1_000 : 2_000,
      ...task,
    };
    const figures = await repeated(options.runs, () => inFreshProcess(SCENARIOS, "queries", whole));
    report.measurement("sqlite", name, options.runs, figures);
    return figures;
  };
  const peer = async (name: string, task: object) => {
    if (!name.includes(options.only)) return undefined;
    const whole = { path: fts5, count: messages > 200_000 ? 60 : 300, ...task };
    const figures = await inFreshProcess(FTS5, "queryFts5", whole);
    report.measurement("fts5", name, 1, figures);
    return figures;
  };

  await run("rare", { kind: "rare" });
  await run("mid", { kind: "mid" });
  const question = await run("question", {});
  await peer("rare", { kind: "rare", analyzed: false });
  await peer("mid", { kind: "mid", analyzed: false });
  const asItIs = await peer("question", { kind: "question", analyzed: false });
  const analyzed = await peer("question, analysed", { kind: "question", analyzed: true });
  const reranked = await run("question, default ranking", { ranking: "default" });
  await run("question, filtered by project", { filter: "project" });
  const filtered: [Filter, number, Figures | undefined][] = [];
  for (const [filter, limit] of FILTER_LIMITS) {
    const name = `question, default ranking, filtered by ${filter}`;
    filtered.push([filter, limit, await run(name, { ranking: "default", filter })]);
  }
  await run("question, 16 MB cache", { cacheMb: 16 });
  const isLarge = messages >= 1_000_000;
  if (isLarge) {
    for (const [filter, limit, figures] of filtered) {
      report.bar(
        `filtered by ${filter}, p50 of that without`,
        share(figures, reranked, "p50Ms"),
        limit,
      );
      report.bar(
        `filtered by ${filter}, p99 of that without`,
        share(figures, reranked, "p99Ms"),
        limit,
      );
    }
    report.bar("default ranking, question p50 ms", reranked?.["p50Ms"], 18);
    report.bar("default ranking, question p99 ms", reranked?.["p99Ms"], 40);
    report.bar("times faster than FTS5 as it is, p50", ratio(asItIs, reranked), 50, true);
    report.bar("times faster than FTS5, analysed, p50", ratio(analyzed, reranked), 3, true);
  } else {
    report.bar("question p99 ms", question?.["p99Ms"], 8);
  }
  report.bar("resident MB while searching", question?.["rssMb"], 400);
  report.bar("resident MB while filling and merging", filled["rssMb"], 400);
  report.bar("index of text", filled["indexOfText"], 0.7);
  report.bar("index of text without positions", filled["indexOfTextWithoutPositions"], 0.45);
  report.bar("bulk messages/s on two cores", filled["messagesPerSecond"], 15_000, true);
  await benchOneCore(options, folder, report);
  await benchOverhead(options, folder, address, report);
  await benchBeside(options, folder, address, report);
  await benchColdStart(options, address, report);
}

async function benchOneCore(options: BenchOptions, folder: string, report: Report): Promise<void> {
  if (!"bulk, one core".includes(options.only)) return;
  await withFolder(folder, async (own) => {
    const task = { address: join(own, "one-core.db"), messages: 50_000, inThread: true };
    const figures = await fillStore(task, own);
    report.measurement("sqlite", "bulk, one core", 1, figures);
    report.bar("bulk messages/s on one core", figures["messagesPerSecond"], 8_000, true);
  });
}

async function benchOverhead(
  options: BenchOptions,
  folder: string,
  address: string,
  report: Report,
): Promise<void> {
  if (!"append".includes(options.only)) return;
  await withFolder(folder, async (own) => {
    // Copies, so that one measurement does not affect the next.
    const [indexed, plain] = ["indexed.db", "plain.db"].map((name) => join(own, name)) as [
      string,
      string,
    ];
    for (const copy of [indexed, plain]) {
      copyFileSync(address, copy);
      copyFileSync(`${address}-index`, `${copy}-index`);
    }
    const task = { indexed, plain, count: options.runs === 1 ? 5_000 : 20_000 };
    const figures = await inFreshProcess(SCENARIOS, "appendOverhead", task);
    report.measurement("sqlite", "append", 1, figures);
    report.bar("indexing adds to an append, p50 ms", figures["addedP50Ms"], 0.3);
    report.bar("indexing adds to an append, p99 ms", figures["addedP99Ms"], 1);
  });
}

async function benchBeside(
  options: BenchOptions,
  folder: string,
  address: string,
  report: Report,
): Promise<void> {
  const name = "append beside ingest and merge";
  if (!name.includes(options.only)) return;
  await withFolder(folder, async (own) => {
    const transcripts = join(own, "transcripts");
    await writeCorpus(transcripts, "claude-code", 30, 4_000_000);
    const runs: Figures[] = [];
    for (let i = 0; i < options.runs; i++) {
      const copy = join(own, `beside-${i}.db`);
      copyFileSync(address, copy);
      copyFileSync(`${address}-index`, `${copy}-index`);
      const task = { address: copy, transcripts, seconds: 20 };
      runs.push(await inFreshProcess(BESIDE, "appendBeside", task));
    }
    const figures = medians(runs);
    report.measurement("sqlite", name, options.runs, figures);
    report.bar("append beside ingest and merge, p99 ms", figures["p99Ms"], 15);
  });
}

async function benchColdStart(
  options: BenchOptions,
  address: string,
  report: Report,
): Promise<void> {
  if (!"cold start".includes(options.only)) return;
  const figures = await repeated(5, () => coldStart(address));
  report.measurement("sqlite", "cold start", 5, figures);
  report.bar("new process to first answer, ms", figures["firstAnswerMs"], 250);
}

async function benchPostgres(options: BenchOptions, report: Report): Promise<void> {
  const { messages } = options;
  await using server = await startBenchServer(options.folder);
  const address = await server.createDatabase();
  const filled = await fillStore({ address, messages, inThread: false }, options.folder);
  report.measurement("postgres", "bulk", 1, filled);
  const task = { address, kind: "question", ranking: "plain", filter: "none", sessions: 0 };
  const warm = await inFreshProcess(SCENARIOS, "queries", {
    ...task,
    cacheMb: CACHE_MB,
    warmUp: 200,
    count: 500,
  });
  report.measurement("postgres", "question", 1, warm);
  const cold = await inFreshProcess(SCENARIOS, "queries", {
    ...task,
    cacheMb: 0,
    warmUp: 0,
    count: 200,
  });
  report.measurement("postgres", "question, empty cache", 1, cold);
  report.bar("postgres, question p99 ms", warm["p99Ms"], 50);
  report.bar("postgres, question p99 ms, empty cache", cold["p99Ms"], 150);
}

async function repeated(runs: number, run: () => Promise<Figures>): Promise<Figures> {
  const figures: Figures[] = [];
  for (let i = 0; i < runs; i++) figures.push(await run());
  return medians(figures);
}

function ratio(slow: Figures | undefined, fast: Figures | undefined): number {
  return share(slow, fast, "p50Ms");
}

function share(part: Figures | undefined, whole: Figures | undefined, name: string): number {
  return (part?.[name] ?? Number.NaN) / (whole?.[name] ?? Number.NaN);
}
