/** `bench append`: the cost of writing and paging, with bars. */

import { join } from "node:path";
import type * as Scenarios from "./append-scenarios.ts";
import type { AppendTask, PageTask } from "./append-scenarios.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  Report,
  withFolder,
} from "./measure.ts";
import { startBenchServer } from "./postgres.ts";

/** The upper bound of a figure, or the lower. */
interface Bar {
  readonly figure: string;
  readonly limit: number;
  readonly atLeast?: boolean;
}

interface Measurement {
  readonly name: string;
  readonly scenario: keyof typeof Scenarios;
  /** Bars for SQLite only: PostgreSQL's time is the server's and the network's. */
  readonly bars: readonly Bar[];
}

interface AppendMeasurement extends Measurement {
  readonly task: Pick<AppendTask, "durability" | "count" | "indexing">;
}

const APPENDS: readonly AppendMeasurement[] = [
  {
    name: "append, durability process",
    scenario: "appendOne",
    task: { durability: "process", count: 20_000 },
    bars: [],
  },
  {
    name: "append, default durability",
    scenario: "appendBesideBareWrite",
    task: { durability: "power-loss", count: 20_000 },
    bars: [{ figure: "overBareP50Ms", limit: 0.3 }],
  },
  {
    name: "append in batches of 100",
    scenario: "appendBatches",
    task: { durability: "power-loss", count: 100_000, indexing: false },
    bars: [{ figure: "messagesPerSecond", limit: 30_000, atLeast: true }],
  },
  {
    // A writer that outruns the indexer waits (back-pressure); `bench search` has bars for that.
    name: "append in batches of 100, indexed",
    scenario: "appendBatches",
    task: { durability: "power-loss", count: 100_000 },
    bars: [],
  },
  {
    name: "append by 64 in one process",
    scenario: "appendConcurrently",
    task: { durability: "power-loss", count: 20_480 },
    bars: [{ figure: "loopDelayP99Ms", limit: 5 }],
  },
];

const LOOKS: readonly AppendMeasurement[] = [
  {
    name: "look at the write-ahead log",
    scenario: "lookAtLog",
    task: { durability: "process", count: 20 },
    bars: [{ figure: "firstMsPerMegabyte", limit: 10 }],
  },
];

/** A page is as fast in a large store as in a small one. */
const PAGE_BARS: readonly Bar[] = [
  { figure: "p99Ms", limit: 5 },
  { figure: "ratioP50", limit: 2 },
  { figure: "ratioP99", limit: 2 },
];

const SESSION_PAGES: readonly Measurement[] = [
  { name: "page of 50 among 100,000 sessions", scenario: "pageSessions", bars: PAGE_BARS },
  { name: "page of 50 sessions, filtered", scenario: "pageFiltered", bars: [] },
];

const MESSAGE_PAGES: readonly Measurement[] = [
  {
    name: "page of 50 in the middle of 100,000 messages",
    scenario: "pageMessages",
    bars: PAGE_BARS,
  },
];

/** Gives whether every bar was met. */
export async function benchAppend(options: BenchOptions): Promise<boolean> {
  const report = new Report("append");
  await withFolder(options.folder, async (folder) => {
    for (const backend of options.backends) {
      if (backend === "sqlite") {
        let count = 0;
        const newAddress = () => Promise.resolve(join(folder, `${++count}.db`));
        await new Run(options, report, backend, folder, newAddress).all();
      } else {
        await using server = await startBenchServer(options.folder);
        await new Run(options, report, backend, folder, () => server.createDatabase()).all();
      }
    }
  });
  return report.met;
}

const SCENARIOS = new URL("./append-scenarios.ts", import.meta.url);

class Run {
  readonly #options: BenchOptions;
  readonly #report: Report;
  readonly #backend: "sqlite" | "postgres";
  readonly #folder: string;
  /** Gives the address of an unused store. */
  readonly #newAddress: () => Promise<string>;

  constructor(
    options: BenchOptions,
    report: Report,
    backend: "sqlite" | "postgres",
    folder: string,
    newAddress: () => Promise<string>,
  ) {
    this.#options = options;
    this.#report = report;
    this.#backend = backend;
    this.#folder = folder;
    this.#newAddress = newAddress;
  }

  async all(): Promise<void> {
    const looks = this.#backend === "sqlite" ? LOOKS : [];
    for (const measurement of this.#wanted([...APPENDS, ...looks])) {
      await this.#measure(measurement, () => this.#appendTask(measurement.task));
    }
    await this.#pages(SESSION_PAGES, "fillSessions");
    await this.#pages(MESSAGE_PAGES, "fillMessages");
  }

  async #pages(all: readonly Measurement[], fill: keyof typeof Scenarios): Promise<void> {
    const measurements = this.#wanted(all);
    if (measurements.length === 0) return;
    const task: PageTask = {
      large: await this.#newAddress(),
      small: await this.#newAddress(),
      largeCount: 100_000,
      smallCount: 1_000,
      queries: 2_000,
    };
    await inFreshProcess(SCENARIOS, fill, { address: task.large, count: task.largeCount });
    await inFreshProcess(SCENARIOS, fill, { address: task.small, count: task.smallCount });
    for (const measurement of measurements) {
      await this.#measure(measurement, () => Promise.resolve(task));
    }
  }

  async #measure(measurement: Measurement, task: () => Promise<unknown>): Promise<void> {
    const { name, scenario, bars } = measurement;
    const runs: Figures[] = [];
    for (let i = 0; i < this.#options.runs; i++) {
      runs.push(await inFreshProcess(SCENARIOS, scenario, await task()));
    }
    const figures = medians(runs);
    this.#report.measurement(this.#backend, name, runs.length, figures);
    if (this.#backend !== "sqlite") return;
    for (const { figure, limit, atLeast } of bars) {
      this.#report.bar(`${name}: ${figure}`, figures[figure], limit, atLeast);
    }
  }

  async #appendTask(task: AppendMeasurement["task"]): Promise<AppendTask> {
    const count = this.#backend === "sqlite" ? task.count : task.count / 4;
    const address = await this.#newAddress();
    return { ...task, address, count, warmUp: count, folder: this.#folder };
  }

  #wanted<Kind extends Measurement>(measurements: readonly Kind[]): Kind[] {
    return measurements.filter(({ name }) => name.includes(this.#options.only));
  }
}
