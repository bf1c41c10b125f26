/**
 * `npm run bench -- archive --data FOLDER`: ingests a folder of real transcripts.
 *
 * It fills a fresh store with the defaults, and counts defects that a user would notice: messages
 * off the active path, and titles without information.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
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
    const { copies } = options;
    const path = resolve(data);
    const task: IngestTask = {
      address: `${folder}/archive.db`,
      home: folder,
      path: copies === 1 ? path : copyAsOthers(path, `${folder}/copies`, copies),
    };
    const { sizePercent = 0, ...read } = await inFreshProcess(INGEST, "ingestAll", task);
    const { originalBytes = 0, ...seen } = await inFreshProcess(SCENARIOS, "inspectArchive", task);
    const { files = 0, megabytes = 0, seconds = 0, megabytesPerSecond = 0, peakRssMb = 0 } = read;
    const { megabytesPerCpuSecond = 0 } = read;
    report.measurement("sqlite", copies === 1 ? "archive" : `archive, ${copies} times`, 1, {
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

/** The first digits of a UUID. */
const UUID = /\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)/g;

/** Copies of the transcripts in which every id is another one, so that they are other sessions. */
export function copyAsOthers(from: string, to: string, copies: number): string {
  const files = readdirSync(from, { recursive: true, withFileTypes: true });
  for (let copy = 0; copy < copies; copy++) {
    const rename = (text: string) =>
      text.replace(UUID, (digits) => {
        const other = (Number.parseInt(digits, 16) ^ (copy * 0x1234567)) >>> 0;
        return other.toString(16).padStart(8, "0");
      });
    mkdirSync(join(to, String(copy)), { recursive: true });
    for (const file of files.filter((each) => each.isFile())) {
      const text = readFileSync(join(file.parentPath, file.name), "latin1");
      const name = rename(basename(file.name));
      writeFileSync(join(to, String(copy), name), rename(text), "latin1");
    }
  }
  return to;
}
