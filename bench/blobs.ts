/** `bench blobs`: what the threshold above which a payload lives in a blob costs and saves. */

import type { BlobTask } from "./blob-scenarios.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  Report,
  withFolder,
} from "./measure.ts";

const SCENARIOS = new URL("./blob-scenarios.ts", import.meta.url);

const THRESHOLDS = [2, 4, 8, 16, 32].map((kib) => kib * 1_024);

/** Has no bars of its own: docs/decisions says which threshold was chosen, and why. */
export async function benchBlobs(options: BenchOptions): Promise<boolean> {
  const report = new Report("blobs");
  await withFolder(options.folder, async (folder) => {
    const runs = new Map<number, Figures[]>(THRESHOLDS.map((threshold) => [threshold, []]));
    // In turns, so that what disturbs the machine disturbs all alike.
    for (let i = 0; i < options.runs; i++) {
      for (const [thresholdBytes, figures] of runs) {
        const task: BlobTask = { folder, thresholdBytes, turns: 60, queries: 1_000 };
        figures.push(await inFreshProcess(SCENARIOS, "storeTranscripts", task));
      }
    }
    for (const [threshold, figures] of runs) {
      report.measurement("sqlite", `threshold ${threshold}`, options.runs, medians(figures));
    }
  });
  return report.met;
}
