/** `bench adapters`: what a turn of other frameworks' agents costs in our stores. */

import { join } from "node:path";
import type * as Scenarios from "./adapter-scenarios.ts";
import type { AdapterTask } from "./adapter-scenarios.ts";
import { type BenchOptions, inFreshProcess, medians, Report, withFolder } from "./measure.ts";

interface Measurement {
  readonly name: string;
  readonly scenario: keyof typeof Scenarios;
  readonly turns: number;
  readonly figure: string;
  readonly limit: number;
}

const MEASUREMENTS: readonly Measurement[] = [
  {
    name: "claude-agent-sdk, a turn of 4 entries and 8 KB",
    scenario: "claudeTurns",
    turns: 2_000,
    figure: "p50Ms",
    limit: 3,
  },
  {
    name: "claude-agent-sdk, load of 10,000 entries",
    scenario: "claudeLoad",
    turns: 0,
    figure: "loadMs",
    limit: 400,
  },
  {
    name: "openai-agents, a turn of 4 items and 8 KB",
    scenario: "openAiTurns",
    turns: 2_000,
    figure: "p50Ms",
    limit: 3,
  },
  {
    name: "ai, a chunk of a stream on another node",
    scenario: "resumedStream",
    turns: 200,
    figure: "p99Ms",
    limit: 300,
  },
  {
    name: "langgraph, the 1,000th turn beside the 10th",
    scenario: "langGraphTurns",
    turns: 1_000,
    figure: "ratio",
    limit: 1.5,
  },
];

/** Gives whether every bar was met. SQLite only: what PostgreSQL takes is its own and the network's. */
export async function benchAdapters(options: BenchOptions): Promise<boolean> {
  const report = new Report("adapters");
  const wanted = MEASUREMENTS.filter(({ name }) => name.includes(options.only));
  await withFolder(options.folder, async (folder) => {
    let count = 0;
    for (const { name, scenario, turns, figure, limit } of wanted) {
      const runs = [];
      for (let run = 0; run < options.runs; run++) {
        count += 1;
        const task: AdapterTask = { address: join(folder, `${count}.db`), folder, turns };
        const module = new URL("./adapter-scenarios.ts", import.meta.url);
        runs.push(await inFreshProcess(module, scenario, task));
      }
      const figures = medians(runs);
      report.measurement("sqlite", name, options.runs, figures);
      report.bar(`${name}: ${figure}`, figures[figure], limit);
    }
  });
  return report.met;
}
