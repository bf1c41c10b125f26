/** Ingests a corpus into a new store, and scans it again. Each runs in its own process. */

import { statSync } from "node:fs";
import type * as Archive from "../src/archive/index.ts";
import type { IngestReport } from "../src/archive/ingest.ts";
import { flushIndex } from "../src/cli/commands/ingest/ingest.ts";
import { prepareBulk } from "../src/cli/store.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb } from "./measure.ts";

export interface IngestTask {
  readonly address: string;
  readonly home: string;
  /** A folder to read, instead of the places of the agents. */
  readonly path: string;
}

/**
 * Parses, stores and indexes as `backscroll ingest`, including the close of the store. `unindexed`
 * changes stay in the tail: too few for a segment.
 */
export async function ingestAll(task: IngestTask): Promise<Figures> {
  prepareBulk();
  const engine = await open(task.address, { durability: "process" });
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { totals } = await run(engine, task);
  await flushIndex(engine);
  const seconds = (performance.now() - start) / 1000;
  const { lag: unindexed } = await engine.indexStatus();
  const { messages = 0 } = (await engine.tenantStatus()) ?? {};
  await engine.close();
  const { user, system } = process.cpuUsage(cpu);
  const cpuSeconds = (user + system) / 1_000_000;
  const megabytes = totals.bytes / 1_000_000;
  return {
    megabytes,
    seconds,
    megabytesPerSecond: megabytes / seconds,
    unindexed,
    megabytesPerCpuSecond: megabytes / cpuSeconds,
    messages,
    messagesPerCpuSecond: messages / cpuSeconds,
    files: totals.files.read,
    sizePercent: (100 * sizeOf(task.address)) / totals.bytes,
    peakRssMb: peakRssMb(),
    problems: [...totals.problems.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** The remaining index maintenance, which the next process does in the background. */
export async function joinRest({ address }: IngestTask): Promise<Figures> {
  await using engine = await open(address, { durability: "process" });
  const start = performance.now();
  await engine.maintainIndex("maintain");
  const joinSeconds = (performance.now() - start) / 1000;
  await engine.close();
  return { joinSeconds, joinedMegabytes: sizeOf(address) / 1_000_000, joinRssMb: peakRssMb() };
}

/** A second run over files that did not change. */
export async function rescan(task: IngestTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: "process" });
  const start = performance.now();
  const { totals } = await run(engine, task);
  const seconds = (performance.now() - start) / 1000;
  const { unchanged } = totals.files;
  return {
    seconds,
    unchanged,
    secondsPer100000: (seconds * 100_000) / Math.max(1, unchanged),
    opened: totals.found - unchanged,
    peakRssMb: peakRssMb(),
  };
}

async function run(
  engine: Awaited<ReturnType<typeof open>>,
  { home, path }: IngestTask,
): Promise<IngestReport> {
  const built = new URL("../dist/archive/index.js", import.meta.url);
  const { ingest } = (await import(built.href)) as typeof Archive;
  const variables = { WORKSTATION_ID: "bench" };
  return ingest(engine, { environment: { home, variables, platform: "linux" }, paths: [path] });
}

/** The database with its index. */
function sizeOf(path: string): number {
  const files = [path, `${path}-index`];
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
