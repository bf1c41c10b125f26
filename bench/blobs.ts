/** `bench blobs`: the cost and gain of the blob threshold. */

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

/** Without bars: docs/decisions has the choice and the reason. */
export async function benchBlobs(options: BenchOptions): Promise<boolean> {
  const report = new Report("blobs");
  await withFolder(options.folder, async (folder) => {
    const runs = new Map<number, Figures[]>(THRESHOLDS.map((threshold) => [threshold, []]));
    // In alternation, so that disturbances affect all alike.
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
