/** `bench adapters`: the cost of a turn, and of loading a long conversation, by adapter. */

import { join } from "node:path";
import type * as Scenarios from "./adapter-scenarios.ts";
import type { AdapterTask } from "./adapter-scenarios.ts";
import type { SubjectName } from "./adapter-subjects.ts";
import { type BenchOptions, inFreshProcess, medians, Report, withFolder } from "./measure.ts";

interface Measurement {
  readonly name: string;
  readonly scenario: keyof typeof Scenarios;
  readonly subject: SubjectName;
  readonly turns: number;
  readonly figure: string;
  readonly limit: number;
}

const FRAMEWORKS: readonly (readonly [string, SubjectName])[] = [
  ["claude-agent-sdk", "claude"],
  ["openai-agents", "openAi"],
  ["ai", "ai"],
  ["assistant-ui", "assistantUi"],
  ["langgraph", "langGraph"],
  ["mastra", "mastra"],
];

const MEASUREMENTS: readonly Measurement[] = [
  ...FRAMEWORKS.map(
    ([framework, subject]): Measurement => ({
      name: `${framework}, a turn of 4 entries and 8 KB`,
      scenario: "turns",
      subject,
      turns: 2_000,
      figure: "p50Ms",
      limit: 3,
    }),
  ),
  ...FRAMEWORKS.map(
    ([framework, subject]): Measurement => ({
      name: `${framework}, a load of 10,000 entries of 2 KB`,
      scenario: "load",
      subject,
      turns: 0,
      figure: "loadMs",
      limit: 400,
    }),
  ),
  {
    name: "ai, a chunk of a stream on another node",
    scenario: "resumedStream",
    subject: "ai",
    turns: 200,
    figure: "p99Ms",
    limit: 300,
  },
  {
    name: "langgraph, the 1,000th turn beside the 10th",
    scenario: "langGraphTurns",
    subject: "langGraph",
    turns: 1_000,
    figure: "ratio",
    limit: 1.5,
  },
];

/** Gives whether every bar was met. SQLite only: PostgreSQL's time is the server's and the network's. */
export async function benchAdapters(options: BenchOptions): Promise<boolean> {
  const report = new Report("adapters");
  const { mastra } = options;
  const wanted = MEASUREMENTS.filter(({ name }) => name.includes(options.only));
  await withFolder(options.folder, async (folder) => {
    let count = 0;
    for (const { name, scenario, subject, turns, figure, limit } of wanted) {
      const runs = [];
      for (let run = 0; run < options.runs; run++) {
        count += 1;
        const own: AdapterTask = { address: join(folder, `${count}.db`), folder, subject, turns };
        const task: AdapterTask = mastra === undefined ? own : { ...own, mastra };
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
