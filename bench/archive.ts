/**
 * `npm run bench -- archive --data FOLDER`: ingests a folder of real transcripts.
 *
 * It fills a fresh store with the defaults, and counts defects that a user would notice: messages
 * off the active path, and titles without information.
 */

import { resolve } from "node:path";
import type { IngestTask } from "./ingest-scenarios.ts";
import { type BenchOptions, inFreshProcess, Report, withFolder } from "./measure.ts";

const INGEST = new URL("./ingest-scenarios.ts", import.meta.url);
const SCENARIOS = new URL("./archive-scenarios.ts", import.meta.url);

export async function benchArchive(options: BenchOptions): Promise<boolean> {
  const { data } = options;
  if (data === undefined) {
    console.error("archive needs --data FOLDER");
    return false;
  }
  const report = new Report("archive");
  await withFolder(options.folder, async (folder) => {
    const task: IngestTask = {
      address: `${folder}/archive.db`,
      home: folder,
      path: resolve(data),
    };
    const { sizePercent = 0, ...read } = await inFreshProcess(INGEST, "ingestAll", task);
    const { originalBytes = 0, ...seen } = await inFreshProcess(SCENARIOS, "inspectArchive", task);
    const { files = 0, megabytes = 0, seconds = 0, megabytesPerSecond = 0, peakRssMb = 0 } = read;
    const { megabytesPerCpuSecond = 0 } = read;
    report.measurement("sqlite", "archive", 1, {
      files,
      problems: read["problems"] ?? 0,
      ...seen,
      megabytes,
      seconds,
      megabytesPerSecond,
      megabytesPerCpuSecond,
      peakRssMb,
      storedBytesPerByteRead: sizePercent / 100 - originalBytes / (megabytes * 1e6),
      originalBytesPerByteRead: originalBytes / (megabytes * 1e6),
    });
    report.bar(
      "real transcripts, MB/s, parsed, stored and searchable",
      megabytesPerSecond,
      15,
      true,
    );
    report.bar("peak RSS, MB", peakRssMb, 400);
  });
  return report.met;
}
