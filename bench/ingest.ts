/**
 * `npm run bench -- ingest --megabytes N --files N`: the first and second reading of transcripts.
 *
 * Speed and size have bars for the two most used agents; memory has one for any input.
 */

import { join } from "node:path";
import { SOURCES } from "../src/ingest/sources.ts";
import { HARD_CORPORA, type HardCorpus } from "./hard-corpora.ts";
import { FORMATS, type Format, writeCorpus } from "./ingest-corpus.ts";
import type { IngestTask } from "./ingest-scenarios.ts";
import { type BenchOptions, inFreshProcess, medians, Report, withFolder } from "./measure.ts";

const SCENARIOS = new URL("./ingest-scenarios.ts", import.meta.url);

export interface IngestBenchOptions {
  /** Megabytes of large transcripts, per format. */
  readonly megabytes: number;
  /** The number of small files. */
  readonly files: number;
}

/** Most of a pi transcript is encrypted reasoning, which does not compress. */
const BARRED: readonly Format[] = ["claude-code", "codex"];

const LARGE_BYTES = 4_000_000;
const SMALL_BYTES = 8_000;

export async function benchIngest(options: BenchOptions): Promise<boolean> {
  const report = new Report("ingest");
  const { megabytes = 1_000, files = 100_000 } = options.ingest ?? {};
  const known = FORMATS.filter((format) => SOURCES.some(({ name }) => name === format));
  for (const format of known.filter((name) => name.includes(options.only))) {
    const count = Math.max(1, Math.round((megabytes * 1_000_000) / LARGE_BYTES));
    await large(options, report, format, count);
  }
  const [first] = known;
  if (first !== undefined && "small files".includes(options.only)) {
    await small(options, report, first, files);
  }
  for (const corpus of HARD_CORPORA.filter(({ name }) => name.includes(options.only))) {
    await hard(options, report, corpus);
  }
  return report.met;
}

async function large(
  options: BenchOptions,
  report: Report,
  format: Format,
  files: number,
): Promise<void> {
  await withFolder(options.folder, async (folder) => {
    const home = join(folder, "home");
    const corpus = await writeCorpus(home, format, files, LARGE_BYTES);
    const spokenPercent = (100 * corpus.spokenBytes) / corpus.bytes;
    report.measurement("sqlite", `${format} corpus`, 1, { ...corpus, spokenPercent });
    const runs = [];
    for (let i = 0; i < options.runs; i++) {
      const task: IngestTask = { address: join(folder, `${i}.db`), home, path: home };
      const ingested = await inFreshProcess(SCENARIOS, "ingestAll", task);
      runs.push({ ...ingested, ...(await inFreshProcess(SCENARIOS, "joinRest", task)) });
    }
    const figures = medians(runs);
    report.measurement("sqlite", format, options.runs, figures);
    const { peakRssMb, joinRssMb, sizePercent } = figures;
    report.bar(`${format}: peak RSS, MB`, peakRssMb, 400);
    report.bar(`${format}: peak RSS of joining the rest, MB`, joinRssMb, 400);
    if (!BARRED.includes(format)) return;
    report.bar(`${format}: spoken text, % of the bytes`, spokenPercent, 15, true);
    report.bar(`${format}: database and index, % of the source`, sizePercent, 60);
  });
}

async function small(
  options: BenchOptions,
  report: Report,
  format: Format,
  files: number,
): Promise<void> {
  await withFolder(options.folder, async (folder) => {
    const home = join(folder, "home");
    await writeCorpus(home, format, files, SMALL_BYTES);
    const task: IngestTask = { address: join(folder, "small.db"), home, path: home };
    const first = await inFreshProcess(SCENARIOS, "ingestAll", task);
    report.measurement("sqlite", "small files", 1, first);
    const again = await inFreshProcess(SCENARIOS, "rescan", task);
    report.measurement("sqlite", "unchanged files", 1, again);
    report.bar("small files: peak RSS, MB", first["peakRssMb"], 400);
    report.bar("unchanged files: seconds for 100,000", again["secondsPer100000"], 5);
    report.bar("unchanged files: opened", again["opened"], 0);
  });
}

/** Measures memory only. */
async function hard(options: BenchOptions, report: Report, corpus: HardCorpus): Promise<void> {
  await withFolder(options.folder, async (folder) => {
    const home = join(folder, "home");
    await corpus.write(home);
    const task: IngestTask = { address: join(folder, "hard.db"), home, path: home };
    const figures = await inFreshProcess(SCENARIOS, "ingestAll", task);
    report.measurement("sqlite", corpus.name, 1, figures);
    report.bar(`${corpus.name}: peak RSS, MB`, figures["peakRssMb"], 400);
  });
}
