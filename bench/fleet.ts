/**
 * `bench fleet`: a primary with a follower, at two sizes in one run, small tenants before and after the
 * large one beside them, and several nodes at once.
 */

import { tmpdir } from "node:os";
import { startFleet } from "../test/support/fleet.ts";
import type * as Scenarios from "./fleet-scenarios.ts";
import { type BenchOptions, type Figures, inFreshProcess, medians, Report } from "./measure.ts";

/** The second size is this many times the first. */
const GROWTH = 10;
const NODES = [1, 2, 4];
/** Nodes that load at once. */
const LOADERS = 2;
/** Messages of the large tenant for each small one, and the most small ones. */
const MESSAGES_PER_TENANT = 200;
const MOST_TENANTS = 10_000;
const CALLS = ["append", "page", "question"];

/** Durable commits, as in production. */
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
  const perTenant = Math.ceil((options.messages * GROWTH) / MESSAGES_PER_TENANT);
  const tenants = Math.min(perTenant, MOST_TENANTS);
  const small = { address: address(0), tenants, seed: 1 };
  const made = await run("fillTenants", small);
  report.measurement("postgres", `make ${tenants} small tenants`, 1, made);
  const askSmall = async (when: string) => {
    const runs: Figures[] = [];
    for (let i = 0; i < options.runs; i++) {
      runs.push(await run("askTenants", { ...small, seed: i }));
    }
    const found = medians(runs);
    report.measurement("postgres", `small tenants ${when} the large one`, options.runs, found);
    return found;
  };
  const alone = await askSmall("before");
  let stored = 0;
  for (const size of sizes) {
    const fill = { address: address(0), messages: (size - stored) / LOADERS };
    const filled = await together(LOADERS, (i) => run("fillFleet", { ...fill, seed: size + i }));
    const perSecond = throughput(filled, "messages");
    report.measurement("postgres", `load to ${size}, ${LOADERS} nodes`, 1, { perSecond });
    report.bar(`messages a second, loading to ${size}`, perSecond, 10_000, true);
    const indexed = await run("indexFleet", { address: address(0), messages: size - stored });
    report.measurement("postgres", `index of what was loaded to ${size}`, 1, indexed);
    stored = size;
    for (const [where, figures] of measured) {
      const replicas = where === "follower" ? [address(1)] : [];
      const runs: Figures[] = [];
      for (let i = 0; i < options.runs; i++) {
        runs.push(await run("askFleet", { address: address(0), replicas, seed: i }));
      }
      const found = medians(runs);
      report.measurement("postgres", `${where} at ${size}`, options.runs, found);
      figures.push(found);
    }
  }
  for (const [where, [small, large]] of measured) {
    const ratio = (name: string) => (large?.[name] ?? Number.NaN) / (small?.[name] ?? Number.NaN);
    report.bar(`${where}: pages at ${GROWTH} times the size`, ratio("pageP50Ms"), 2);
    report.bar(`${where}: questions at ${GROWTH} times the size`, ratio("questionP50Ms"), 4);
  }
  const beside = await askSmall("beside");
  for (const call of CALLS) {
    const name = `${call}P50Ms`;
    const ratio = (beside[name] ?? Number.NaN) / (alone[name] ?? Number.NaN);
    report.bar(`small tenants: ${call} beside a large one`, ratio, 1.5);
  }
  for (const nodes of NODES) {
    const task = { address: address(0), appends: 2_000, callers: 8 };
    const runs = await together(nodes, (seed) => run("writeFleet", { ...task, seed }));
    const appendsPerSecond = throughput(runs, "appends");
    report.measurement("postgres", `appends by ${nodes} nodes`, 1, { appendsPerSecond });
  }
  return report.met;
}

function run(scenario: keyof typeof Scenarios, task: unknown): Promise<Figures> {
  return inFreshProcess(new URL("./fleet-scenarios.ts", import.meta.url), scenario, task);
}

function together(
  nodes: number,
  start: (node: number) => Promise<Figures>,
): Promise<readonly Figures[]> {
  return Promise.all(Array.from({ length: nodes }, (_, node) => start(node)));
}

/** From the first start to the last end, without the start-up of the processes. */
function throughput(runs: readonly Figures[], what: string): number {
  const all = (name: string) => runs.map((figures) => figures[name] ?? Number.NaN);
  const ms = Math.max(...all("endedAt")) - Math.min(...all("startedAt"));
  return (1_000 * all(what).reduce((sum, count) => sum + count, 0)) / ms;
}
