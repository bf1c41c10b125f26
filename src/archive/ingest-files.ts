/**
 * A run over many files: look each up, read it if it changed, remember it.
 *
 * Several files are read concurrently, so that parsing continues while the store writes, and small
 * sessions share a commit. Memory does not grow with the number of files: they come in groups, and
 * only files in progress are held.
 */

import type { IngestedFile } from "../store/ingested-file.ts";
import type { Candidate } from "./candidate.ts";
import {
  addSums,
  type FileSum,
  isIgnored,
  isUnrecognised,
  MAX_REMEMBERED_PATH,
  parseState,
  planReading,
  type ReadingPlan,
  sumBeside,
} from "./file-state.ts";
import { type FileInput, ingestFile } from "./ingest-file.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { ingestWritten } from "./ingest-written.ts";
import { type FileOutcome, outcomeOf, Totals } from "./outcome.ts";
import { findIgnoringRule } from "./rules/archive-rules.ts";

export interface RunHandlers {
  /** Called with each finished file; unchanged files that were not named are only counted. */
  readonly onOutcome?: (outcome: FileOutcome) => void;
  /** Called periodically. */
  readonly onProgress?: (totals: Totals) => void;
  /** The time to find files and look up their state, without reading them. */
  readonly onLooked?: (ms: number) => void;
  /** Ends the run after the files in progress. */
  readonly signal?: AbortSignal;
}

/** The batch size of records. */
const RECORDS = 64;

/** `unchanged` plans are counted and dropped; unrecognised files are reported again. */
export async function ingestFiles(
  setting: IngestSetting,
  groups: AsyncIterable<readonly Candidate[]>,
  handlers: RunHandlers = {},
): Promise<Totals> {
  const { onOutcome, onProgress, signal } = handlers;
  await setting.rules.refresh();
  const totals = new Totals();
  const records = new Records(setting);
  const lanes = new Lanes();
  const turn = new ShortTurns();
  let failure: { readonly error: unknown } | undefined;
  const start = (planned: Planned) => {
    const { candidate, known, plan } = planned;
    const { write } = candidate;
    const input: FileInput = {
      candidate,
      known,
      plan: plan === "rest" ? plan : "whole",
      onSession: (source, session) => totals.addSession(source, session),
    };
    const ingesting =
      write === undefined ? ingestFile(setting, input) : ingestWritten(setting, input, write);
    const work = ingesting.then(async ({ outcome, record }) => {
      totals.add(outcome, candidate.place);
      onOutcome?.(outcome);
      onProgress?.(totals);
      if (record !== undefined) await records.add(record);
    });
    const settled = work.catch((error: unknown) => {
      failure ??= { error };
    });
    lanes.start(candidate.file.size, settled);
  };
  for await (const group of planGroups(setting, readAhead(groups), handlers.onLooked)) {
    for (const planned of group) {
      if (signal?.aborted || failure !== undefined) break;
      if (planned.rule !== undefined) {
        const { candidate, rule } = planned;
        totals.addIgnoredFile(rule);
        if (candidate.named) onOutcome?.(outcomeOf(candidate.file.path, "ignored", rule));
        continue;
      }
      if (planned.plan === "unchanged") {
        const { candidate, known } = planned;
        const isOdd = known !== undefined && isUnrecognised(known);
        if (candidate.named) {
          const outcome = outcomeOf(candidate.file.path, isOdd ? "unrecognised" : "unchanged");
          totals.add(outcome);
          onOutcome?.(outcome);
        } else if (isOdd) totals.addUnrecognised(candidate.file.path);
        else totals.addUnchanged(known?.source ?? "", candidate.place);
        continue;
      }
      await lanes.room(planned.candidate.file.size);
      await turn.end();
      if (signal?.aborted || failure !== undefined) break;
      start(planned);
    }
    onProgress?.(totals);
    if (signal?.aborted || failure !== undefined) break;
  }
  await lanes.end();
  if (failure !== undefined) throw failure.error;
  await records.flush();
  return totals;
}

/** The time slice of starting files: small ones complete synchronously. */
const TURN_MS = 5;

/** Cooperative scheduling: yields to the event loop, because a server also has callers. */
class ShortTurns {
  #began = performance.now();

  async end(): Promise<void> {
    if (performance.now() - this.#began < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#began = performance.now();
  }
}

/** Prefetch: scans the next group while this one is processed. */
async function* readAhead<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // The rejection is handled where the promise is awaited.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

export interface Planned {
  readonly candidate: Candidate;
  readonly known: IngestedFile | undefined;
  readonly plan: ReadingPlan;
  /** Set if the plan is `ignored`. */
  readonly rule?: string;
}

/** Groups with their plans. Time between two groups does not count as scanning. */
async function* planGroups(
  setting: IngestSetting,
  groups: AsyncIterable<readonly Candidate[]>,
  onLooked?: (ms: number) => void,
): AsyncGenerator<readonly Planned[]> {
  let started = performance.now();
  for await (const group of groups) {
    // Oldest first: a file that precedes a stored one makes its session be read again as a whole.
    const planned = await planGroup(setting, group.toSorted(byWriting));
    onLooked?.(performance.now() - started);
    yield planned;
    started = performance.now();
  }
  onLooked?.(performance.now() - started);
}

function byWriting({ file: a }: Candidate, { file: b }: Candidate): number {
  return a.mtimeUs - b.mtimeUs;
}

/**
 * Looks up the state of a group's files and plans their reading. A reader's resume state is fetched
 * only for readers that can resume.
 */
export async function planGroup(
  setting: IngestSetting,
  group: readonly Candidate[],
): Promise<readonly Planned[]> {
  const facts = await findRecords(setting, group, false);
  const sums = await sumGroup(setting, group, facts);
  const plan = (candidate: Candidate, known: IngestedFile | undefined): Planned => {
    const { file } = candidate;
    return { candidate, known, plan: planReading(sums.get(file) ?? file, known, setting) };
  };
  const planned = group.map((each) => plan(each, facts.get(each.file.path)));
  const changed = planned.filter(
    ({ known, plan }) => known !== undefined && (plan !== "unchanged" || isIgnored(known)),
  );
  if (changed.length === 0) return planned;
  const candidates = changed.map(({ candidate }) => candidate);
  const whole = await findRecords(setting, candidates, true);
  return Promise.all(
    planned.map(async (each) => {
      const known = whole.get(each.candidate.file.path);
      if (known === undefined) return each;
      if (!isIgnored(known)) return plan(each.candidate, known);
      const { ignored } = parseState(known.state);
      const isRevived = setting.force && each.candidate.named;
      const rule =
        ignored === undefined || isRevived ? undefined : await findIgnoringRule(setting, ignored);
      return rule === undefined ? { ...each, plan: "whole" } : { ...each, plan: "ignored", rule };
    }),
  );
}

/** Size and mtime of files with companions, the companions included. */
async function sumGroup(
  { sources }: IngestSetting,
  group: readonly Candidate[],
  facts: ReadonlyMap<string, IngestedFile>,
): Promise<ReadonlyMap<Candidate["file"], FileSum>> {
  const withParts = new Map(
    sources
      .filter(({ container, companions }) => container === "database" || companions !== undefined)
      .map((source) => [source.name, source]),
  );
  const sums = new Map<Candidate["file"], FileSum>();
  await Promise.all(
    group.flatMap(({ file }) => {
      const source = withParts.get(facts.get(file.path)?.source ?? "");
      if (source === undefined) return [];
      return sumBeside(source, file).then((beside) => sums.set(file, addSums(file, beside)));
    }),
  );
  return sums;
}

async function findRecords(
  { tenant, workstation }: IngestSetting,
  group: readonly Candidate[],
  withState: boolean,
): Promise<ReadonlyMap<string, IngestedFile>> {
  const paths = group.map(({ file }) => file.path);
  const found = await tenant.findIngestedFiles(workstation, paths, { withState });
  return new Map(found.map((file) => [file.path, file]));
}

/** Write ordering: entries first, then the record. A run that dies in between reads the file again. */
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

/** Enough that the store hardly waits: 16 small files took a tenth longer. */
const MAX_FILES = 40;
/** Bytes of the files read concurrently. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * A semaphore weighted by bytes: many small files run concurrently, or one large one.
 *
 * A small file mostly waits for the store; many of them share a commit. A large one keeps the store
 * busy by itself, and one of its lines may be as long as the file: two would double the memory and
 * save no time.
 */
export class Lanes {
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;
  #wake: (() => void) | undefined;

  /** Resolves when a file of this size may start. At most one caller waits. */
  async room(size: number): Promise<void> {
    while (!this.#hasRoom(size)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** `work` must not fail. */
  start(size: number, work: Promise<void>): void {
    const bytes = Math.min(size, MAX_BYTES);
    this.#bytes += bytes;
    this.#running.add(work);
    void work.then(() => {
      this.#running.delete(work);
      this.#bytes -= bytes;
      this.#wake?.();
      this.#wake = undefined;
    });
  }

  /** Resolves when everything started is done. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  #hasRoom(size: number): boolean {
    if (this.#running.size === 0) return true;
    const bytes = this.#bytes + Math.min(size, MAX_BYTES);
    return this.#running.size < MAX_FILES && bytes <= MAX_BYTES;
  }
}
