/**
 * A run over many files: each is looked up, read if it has to be, and remembered.
 *
 * A few files are read at a time, so that parsing goes on while the store writes, and small sessions
 * share a commit. Memory does not depend on how many files there are: they come in groups, and only
 * what is under way is held.
 */

import type { IngestedFile } from "../store/ingested-file.ts";
import { addSums, sumBeside } from "./companions.ts";
import type { Candidate } from "./find-files.ts";
import { ingestFile } from "./ingest-file.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { type FileOutcome, outcomeOf, Totals } from "./outcome.ts";
import { isUnrecognised, planReading, type ReadingPlan } from "./plan-reading.ts";

export interface RunHandlers {
  /** Each file, as it is done; those that are unchanged and were not named are only counted. */
  readonly onOutcome?: (outcome: FileOutcome) => void;
  /** Now and then. */
  readonly onProgress?: (totals: Totals) => void;
  /** How long it took to find some files and what is known of them: looking, without reading. */
  readonly onLooked?: (ms: number) => void;
  /** Ends the run after the files that are under way. */
  readonly signal?: AbortSignal;
}

/** Files that are read at once: enough that the store never waits, and no more memory than that. */
const AT_ONCE = 2;

/** Files whose records are written together. */
const RECORDS = 64;

/** A path of more bytes than a database's index takes is read each time. */
const MAX_REMEMBERED_PATH = 2_000;

/** `unchanged` plans are counted and not handed on. */
export async function ingestFiles(
  setting: IngestSetting,
  groups: AsyncIterable<readonly Candidate[]>,
  handlers: RunHandlers = {},
): Promise<Totals> {
  const { onOutcome, onProgress, signal } = handlers;
  const totals = new Totals();
  const records = new Records(setting);
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const start = (planned: Planned) => {
    const { candidate, known, plan } = planned;
    const work = ingestFile(setting, {
      ...{ candidate, known, plan: plan === "unchanged" ? "whole" : plan },
      onSession: (source, session) => totals.addSession(source, session),
    }).then(async ({ outcome, record }) => {
      totals.add(outcome);
      onOutcome?.(outcome);
      onProgress?.(totals);
      if (record !== undefined) await records.add(record);
    });
    const settled = work.catch((error: unknown) => {
      failure ??= { error };
    });
    running.add(settled);
    void settled.then(() => running.delete(settled));
  };
  for await (const group of planGroups(setting, groups, handlers.onLooked)) {
    for (const planned of group) {
      if (signal?.aborted || failure !== undefined) break;
      if (planned.plan === "unchanged") {
        const { candidate, known } = planned;
        const isOdd = candidate.named && known !== undefined && isUnrecognised(known);
        const outcome = outcomeOf(candidate.file.path, isOdd ? "unrecognised" : "unchanged");
        totals.add(outcome);
        if (candidate.named) onOutcome?.(outcome);
        continue;
      }
      start(planned);
      while (running.size >= AT_ONCE) await Promise.race(running);
    }
    onProgress?.(totals);
    if (signal?.aborted || failure !== undefined) break;
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
  await records.flush();
  return totals;
}

export interface Planned {
  readonly candidate: Candidate;
  readonly known: IngestedFile | undefined;
  readonly plan: ReadingPlan;
}

/** Groups with their plans. What is between two of them is not counted as looking. */
async function* planGroups(
  setting: IngestSetting,
  groups: AsyncIterable<readonly Candidate[]>,
  onLooked?: (ms: number) => void,
): AsyncGenerator<readonly Planned[]> {
  let started = performance.now();
  for await (const group of groups) {
    const planned = await planGroup(setting, group);
    onLooked?.(performance.now() - started);
    yield planned;
    started = performance.now();
  }
  onLooked?.(performance.now() - started);
}

/** What is known of the files of a group, and whether they have to be read. */
export async function planGroup(
  setting: IngestSetting,
  group: readonly Candidate[],
): Promise<readonly Planned[]> {
  const paths = group.map(({ file }) => file.path);
  const { tenant, workstation } = setting;
  const found = await tenant.findIngestedFiles(workstation, paths);
  const known = new Map(found.map((file) => [file.path, file]));
  return Promise.all(
    group.map(async (candidate): Promise<Planned> => {
      const { file } = candidate;
      const record = known.get(file.path);
      const source = setting.sources.find(({ name }) => name === record?.source);
      const now = addSums(file, await sumBeside(source, file));
      return { candidate, known: record, plan: planReading(now, record, setting) };
    }),
  );
}

/** Written after what was read is stored: a run that dies in between reads a file again. */
class Records {
  readonly #setting: IngestSetting;
  #waiting: IngestedFile[] = [];

  constructor(setting: IngestSetting) {
    this.#setting = setting;
  }

  async add(record: IngestedFile): Promise<void> {
    if (Buffer.byteLength(record.path) > MAX_REMEMBERED_PATH) return;
    this.#waiting.push(record);
    if (this.#waiting.length >= RECORDS) await this.flush();
  }

  async flush(): Promise<void> {
    const records = this.#waiting;
    this.#waiting = [];
    const { tenant, workstation, dryRun } = this.#setting;
    if (records.length > 0 && !dryRun) await tenant.putIngestedFiles(workstation, records);
  }
}
