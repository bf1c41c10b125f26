/**
 * `npm run bench -- vectors --messages N`: hybrid search over as many vectors as messages. The
 * corpus is kept in `--folder` and reused.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fillStore } from "./fill-store.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  once,
  Report,
  withFolder,
} from "./measure.ts";
import type { Filter } from "./search-scenarios.ts";
import type { HybridTask } from "./vector-scenarios.ts";

const SCENARIOS = new URL("./vector-scenarios.ts", import.meta.url);
const CACHE_MB = 64;
/** Maximum time of a filtered search relative to an unfiltered one, as in `bench search`. */
const FILTER_LIMITS: readonly [Filter, number][] = [
  ["agent", 1.5],
  ["project", 1.5],
  ["session", 1.2],
  ["time", 1.2],
];

export async function benchVectors(options: BenchOptions): Promise<boolean> {
  const report = new Report("vectors");
  const { folder } = options;
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  if (folder === undefined) await withFolder(undefined, (own) => measure(options, own, report));
  else await measure(options, folder, report);
  return report.met;
}

async function measure(options: BenchOptions, folder: string, report: Report): Promise<void> {
  const { messages } = options;
  const address = join(folder, `vectors-${messages}.db`);
  const filled = await once(`${address}.json`, () =>
    fillStore({ address, messages, inThread: false }, folder),
  );
  const embedded = await once(`${address}.embedded.json`, () =>
    inFreshProcess(SCENARIOS, "embedCorpus", { address, messages }),
  );
  report.measurement("sqlite", "embed", 1, embedded);
  const exact = await once(`${address}.recall.json`, () =>
    inFreshProcess(SCENARIOS, "recallOfNearest", { address, messages }),
  );

  const run = async (name: string, task: Partial<HybridTask>) => {
    if (!name.includes(options.only)) return undefined;
    const whole: HybridTask = {
      address,
      meaning: true,
      filter: "none",
      sessions: filled["sessions"] ?? 0,
      cacheMb: CACHE_MB,
      warmUp: 50,
      count: 500,
      ...task,
    };
    const runs: Figures[] = [];
    for (let i = 0; i < options.runs; i++) {
      runs.push(await inFreshProcess(SCENARIOS, "hybridQueries", whole));
    }
    const figures = medians(runs);
    report.measurement("sqlite", name, options.runs, figures);
    return figures;
  };
  const words = await run("words alone", { meaning: false });
  const hybrid = await run("hybrid", {});
  const filtered: [Filter, number, Figures | undefined][] = [];
  for (const [filter, limit] of FILTER_LIMITS) {
    filtered.push([filter, limit, await run(`hybrid, filtered by ${filter}`, { filter })]);
  }

  report.bar("recall@20 against floats", exact["recall"], 0.97, true);
  report.bar("bytes a vector", embedded["bytesPerVector"], 450);
  if (hybrid === undefined) return;
  report.bar("hybrid question p50 ms", hybrid["p50Ms"], 45);
  report.bar("hybrid question p99 ms", hybrid["p99Ms"], 90);
  if (words !== undefined) {
    const added = (hybrid["rssMb"] ?? Number.NaN) - (words["rssMb"] ?? Number.NaN);
    report.bar("resident MB that vectors add", added, 150);
  }
  for (const [filter, limit, figures] of filtered) {
    if (figures === undefined) continue;
    const part = (figures["p50Ms"] ?? Number.NaN) / (hybrid["p50Ms"] ?? Number.NaN);
    report.bar(`filtered by ${filter}, p50 of that without`, part, limit);
  }
}
