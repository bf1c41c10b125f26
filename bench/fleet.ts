/** `bench fleet`: a primary with a follower, at two sizes in one run, and several nodes at once. */

import { tmpdir } from "node:os";
import { startFleet } from "../test/support/fleet.ts";
import type * as Scenarios from "./fleet-scenarios.ts";
import { type BenchOptions, type Figures, inFreshProcess, medians, Report } from "./measure.ts";

/** The second size is this many times the first. */
const GROWTH = 10;
const NODES = [1, 2, 4];
/** The index cache of a node that is asked: the default of a store. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** Commits are as safe as they say. */
const SETTINGS = { fsync: "on", full_page_writes: "on", autovacuum: "on" };

export async function benchFleet(options: BenchOptions): Promise<boolean> {
  const report = new Report("fleet");
  const parent = options.folder ?? tmpdir();
  await using fleet = await startFleet({ parent, settings: SETTINGS });
  const { address } = fleet;
  const sizes = [options.messages, options.messages * GROWTH];
  const measured = new Map<string, Figures[]>([
    ["primary", []],
    ["follower", []],
  ]);
  let stored = 0;
  for (const size of sizes) {
    const fill = { address: address(0), messages: size - stored, seed: size };
    report.measurement("postgres", `fill to ${size}`, 1, await run("fillFleet", fill));
    stored = size;
    for (const [where, figures] of measured) {
      const replicas = where === "follower" ? [address(1)] : [];
      const runs: Figures[] = [];
      for (let i = 0; i < options.runs; i++) {
        const task = { address: address(0), replicas, cacheBytes: CACHE_BYTES, seed: i };
        runs.push(await run("askFleet", task));
      }
      const found = { ...medians(runs), cacheBytes: CACHE_BYTES };
      report.measurement("postgres", `${where} at ${size}`, options.runs, found);
      figures.push(found);
    }
  }
  for (const [where, [small, large]] of measured) {
    const ratio = (name: string) => (large?.[name] ?? Number.NaN) / (small?.[name] ?? Number.NaN);
    report.bar(`${where}: pages at ${GROWTH} times the size`, ratio("pageP50Ms"), 2);
    report.bar(`${where}: questions at ${GROWTH} times the size`, ratio("questionP50Ms"), 4);
  }
  for (const nodes of NODES) {
    const task = { address: address(0), appends: 2_000, callers: 8 };
    const runs = await Promise.all(
      Array.from({ length: nodes }, (_, seed) => run("writeFleet", { ...task, seed })),
    );
    report.measurement("postgres", `appends by ${nodes} nodes`, 1, throughput(runs));
  }
  return report.met;
}

function run(scenario: keyof typeof Scenarios, task: unknown): Promise<Figures> {
  return inFreshProcess(new URL("./fleet-scenarios.ts", import.meta.url), scenario, task);
}

/** From the first start to the last end: the time that processes take to start does not count. */
function throughput(runs: readonly Figures[]): Figures {
  const all = (name: string) => runs.map((figures) => figures[name] ?? Number.NaN);
  const ms = Math.max(...all("endedAt")) - Math.min(...all("startedAt"));
  const appends = all("appends").reduce((sum, count) => sum + count, 0);
  return { appendsPerSecond: (1_000 * appends) / ms };
}
