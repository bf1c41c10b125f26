/**
 * Following what agents write, live.
 *
 * Everything is ingested first. Then each file that the system tells of is read on a moment later, and
 * everything is looked at again now and then, for what the system did not tell.
 */

import { lstat, realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { isInside } from "../ingest/files/file-access.ts";
import { noCounts, toFound } from "../ingest/files/walk.ts";
import type { Place, TranscriptSource } from "../ingest/source.ts";
import type { Candidate } from "./find-files.ts";
import { findCandidates } from "./ingest.ts";
import { ingestFiles, type RunHandlers } from "./ingest-files.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";
import { FolderWatcher } from "./watch-folders.ts";

export interface WatchInput
  extends Omit<IngestOptions, "dryRun" | "force">,
    Pick<RunHandlers, "onOutcome"> {
  readonly signal: AbortSignal;
  /** Called when all that was there is ingested, with how many folders are watched. */
  readonly onReady?: (folders: number) => void;
  /** Between two looks at everything: 30 s if left out, and never more than 1 % of the time. */
  readonly reconcileMs?: number;
}

/** An agent writes a turn in several pieces; together they are one reading. */
const SETTLE_MS = 50;

const RECONCILE_MS = 30_000;
const LOOK_SHARE = 100;

/** More than this at once is a look at everything. */
const MAX_CHANGED = 10_000;

/** Resolves when the signal is aborted and what was under way is stored. */
export async function watchPlaces(tenant: TenantApi, input: WatchInput): Promise<void> {
  const setting = await createSetting(tenant, input);
  const { signal, reconcileMs = RECONCILE_MS } = input;
  const changed = new Changed(signal);
  const watcher = new FolderWatcher((path) => changed.add(path));
  try {
    let isFirst = true;
    while (!signal.aborted) {
      const started = performance.now();
      const places = await findPlaces(setting);
      // Watched before they are looked at, so that nothing is written unseen in between.
      for (const { root, place } of places) await watcher.add(root, place.skips);
      changed.take();
      const all = findCandidates(setting, undefined, noCounts(), () => undefined);
      await ingestFiles(setting, all, input);
      if (isFirst) input.onReady?.(watcher.folders);
      isFirst = false;
      const until = Date.now() + Math.max(reconcileMs, LOOK_SHARE * (performance.now() - started));
      await follow(setting, input, places, changed, until);
    }
  } finally {
    watcher.close();
  }
}

/** Reads what is told of, until it is time to look at everything. */
async function follow(
  setting: IngestSetting,
  input: WatchInput,
  places: readonly WatchedPlace[],
  changed: Changed,
  until: number,
): Promise<void> {
  while (!input.signal.aborted && Date.now() < until) {
    await changed.wait(until - Date.now());
    if (input.signal.aborted || changed.overflowed) return;
    await pause(SETTLE_MS);
    const group = await toCandidates(changed.take(), places);
    if (group.length > 0) await ingestFiles(setting, once(group), input);
  }
}

interface WatchedPlace {
  readonly root: string;
  readonly place: Place;
  readonly source: TranscriptSource;
}

/** The places that are there now. */
async function findPlaces({ sources, only, environment }: IngestSetting): Promise<WatchedPlace[]> {
  const found: WatchedPlace[] = [];
  for (const source of only === undefined ? sources : [only]) {
    for (const place of source.places?.(environment) ?? []) {
      try {
        found.push({ root: await realpath(place.root), place, source });
      } catch {
        // Not there yet: the next look may find it.
      }
    }
  }
  return found;
}

async function toCandidates(
  paths: readonly string[],
  places: readonly WatchedPlace[],
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const path of paths) {
    const owner = places.find(({ root, place }) => {
      if (!isInside(path, root)) return false;
      const way = relative(root, path).split(sep).join("/");
      return place.matches(way === "" ? (path.split(sep).at(-1) ?? "") : way);
    });
    if (owner === undefined) continue;
    try {
      const facts = await lstat(path);
      if (!facts.isFile()) continue;
      const file = toFound(owner.root, path, facts);
      candidates.push({ file, hint: owner.source, named: false });
    } catch {
      // Deleted: its session stays.
    }
  }
  return candidates;
}

/** The paths that were told of since somebody looked. */
class Changed {
  #paths = new Set<string>();
  #wake: (() => void) | undefined;
  overflowed = false;

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  add(path: string): void {
    // The log of a database is told as the log's own file.
    if (this.#paths.size >= MAX_CHANGED) this.overflowed = true;
    else this.#paths.add(path.replace(/-wal$/, ""));
    this.#wake?.();
  }

  take(): string[] {
    const paths = [...this.#paths];
    this.#paths = new Set();
    this.overflowed = false;
    return paths;
  }

  /** Until something is told, the signal is aborted or the time has passed. */
  wait(ms: number): Promise<void> {
    if (this.#paths.size > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const self = this;
      function done() {
        clearTimeout(timer);
        self.#wake = undefined;
        resolve();
      }
      this.#wake = done;
    });
  }
}

async function* once(group: readonly Candidate[]): AsyncGenerator<readonly Candidate[]> {
  yield group;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
