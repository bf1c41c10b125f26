/**
 * Read-your-writes within a deadline: new transcript lines are stored before a tool call is
 * answered.
 *
 * Files of the caller's project come first, then all others, the newest first. The rest is counted
 * and left to the follower of the transcripts.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { noCounts } from "../ingest/files/walk.ts";
import type { Candidate } from "./candidate.ts";
import { findInPlaces, findNear } from "./find-files.ts";
import { ingestFiles, type Planned, planGroup } from "./ingest-files.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";

export interface FreshReaderInput extends Omit<IngestOptions, "dryRun" | "force" | "source"> {
  /** The caller's working folder. */
  readonly cwd: string;
  /** How long a call may wait. */
  readonly budgetMs: number;
  /** Whether a follower in this process has caught up with all folders. */
  readonly isFollowed?: () => boolean;
  /** Receives errors; the caller is answered anyway. */
  readonly onError: (error: unknown) => void;
  /** Monotonic, in milliseconds. */
  readonly clock?: () => number;
}

/** Found but not stored. */
export interface UnreadFiles {
  readonly files: number;
  readonly bytes: number;
  /** False if the time ended before everything was checked. */
  readonly complete: boolean;
}

/**
 * A lower bound of the ingest rate, in bytes per millisecond: transcripts of small lines on one
 * thread.
 */
const BYTES_PER_MS = 8 * 1024;

/** A changed database counts with a fixed cost: its index finds the changed rows. */
const DATABASE_BYTES = 64 * 1024;

export class FreshReader {
  readonly #tenant: TenantApi;
  readonly #input: FreshReaderInput;
  readonly #clock: () => number;
  #setting: Promise<IngestSetting> | undefined;
  #run: Run | undefined;

  constructor(tenant: TenantApi, input: FreshReaderInput) {
    this.#tenant = tenant;
    this.#input = input;
    this.#clock = input.clock ?? (() => performance.now());
  }

  /** Resolves within the time limit, with the unread rest. Never rejects. */
  async read(): Promise<UnreadFiles> {
    const until = this.#clock() + this.#input.budgetMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#input.budgetMs);
    try {
      // One reading at a time. A caller that arrives during one starts another, for lines written
      // since.
      while (this.#run !== undefined && !late.signal.aborted) await this.#run.endOr(late.signal);
      if (this.#run !== undefined) return this.#run.unread;
      const run = new Run(until, late.signal, this.#clock);
      this.#run = run;
      void run.start(this.#work(run)).finally(() => {
        this.#run = undefined;
      });
      await run.endOr(late.signal);
      return run.unread;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when no reading is in progress. */
  async ended(): Promise<void> {
    await this.#run?.endOr();
  }

  async #work(run: Run): Promise<void> {
    try {
      const setting = await this.#makeSetting();
      await setting.rules.refresh();
      const { sources, environment } = setting;
      const { cwd, isFollowed } = this.#input;
      await look(setting, run, findNear(sources, environment, { cwd, now: Date.now() }));
      await readFound(setting, run);
      if (isFollowed?.()) run.isComplete = true;
      else {
        run.isComplete = await look(setting, run, findInPlaces(sources, environment, noCounts()));
        await readFound(setting, run);
      }
    } catch (error) {
      this.#input.onError(error);
    }
  }

  /** Created once; a failure is not cached, so that the next call retries. */
  #makeSetting(): Promise<IngestSetting> {
    this.#setting ??= createSetting(this.#tenant, this.#input).catch((error: unknown) => {
      this.#setting = undefined;
      throw error;
    });
    return this.#setting;
  }
}

/** One reading: found and unread files. */
class Run {
  readonly until: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
  readonly seen = new Set<string>();
  readonly left = new Map<string, { readonly candidate: Candidate; readonly bytes: number }>();
  isComplete = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(until: number, signal: AbortSignal, clock: () => number) {
    this.until = until;
    this.signal = signal;
    this.clock = clock;
  }

  get isLate(): boolean {
    return this.signal.aborted || this.clock() >= this.until;
  }

  get unread(): UnreadFiles {
    const bytes = [...this.left.values()].reduce((sum, each) => sum + each.bytes, 0);
    return { files: this.left.size, bytes, complete: this.isComplete };
  }

  start(work: Promise<void>): Promise<void> {
    this.#ended = work;
    return work;
  }

  endOr(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#ended;
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    return Promise.race([this.#ended, aborted]);
  }
}

/** Records changed files. True if the time sufficed for all folders. */
async function look(
  setting: IngestSetting,
  run: Run,
  groups: AsyncIterable<readonly Candidate[]>,
): Promise<boolean> {
  for await (const group of groups) {
    const fresh = group.filter(({ file }) => !run.seen.has(file.path));
    for (const { file } of fresh) run.seen.add(file.path);
    for (const planned of await planGroup(setting, fresh)) {
      if (planned.plan === "unchanged" || planned.plan === "ignored") continue;
      const { candidate } = planned;
      run.left.set(candidate.file.path, { candidate, bytes: bytesOf(planned) });
    }
    if (run.isLate) return false;
  }
  return true;
}

function bytesOf({ candidate, known, plan }: Planned): number {
  const { file, hint } = candidate;
  if (hint?.container === "database" && known !== undefined) return DATABASE_BYTES;
  return file.size - (plan === "rest" ? (known?.offset ?? 0) : 0);
}

/** Reads recorded files, newest first, until the time is up. */
async function readFound(setting: IngestSetting, run: Run): Promise<void> {
  const room = Math.max(0, run.until - run.clock()) * BYTES_PER_MS;
  const chosen: Candidate[] = [];
  let sum = 0;
  const newest = [...run.left.values()].sort(
    (a, b) => b.candidate.file.mtimeUs - a.candidate.file.mtimeUs,
  );
  for (const { candidate, bytes } of newest) {
    if (sum + bytes > room) continue;
    sum += bytes;
    chosen.push(candidate);
  }
  if (chosen.length === 0 || run.isLate) return;
  await ingestFiles(setting, once(chosen), {
    signal: run.signal,
    onOutcome: ({ path }) => run.left.delete(path),
  });
}

async function* once(group: readonly Candidate[]): AsyncGenerator<readonly Candidate[]> {
  yield group;
}
