/**
 * Follows transcripts live.
 *
 * Everything is ingested first. Then each file that the system reports is read a moment later, and
 * everything is scanned periodically, for events that the system missed.
 */

import { existsSync, type FSWatcher, watch } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { pause } from "../async/pause.ts";
import type { Engine } from "../engine/engine.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { accessAround, isInside } from "../ingest/files/file-access.ts";
import { toFound } from "../ingest/files/walk.ts";
import { workstationId } from "../ingest/identity/identity.ts";
import type { Place, TranscriptSource } from "../ingest/source.ts";
import { defined } from "../model/defined.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { LEASE_MS } from "../model/lease.ts";
import type { Candidate } from "./candidate.ts";
import { noFinding } from "./find-files.ts";
import { expireSessions, findCandidates } from "./ingest.ts";
import { ingestFiles, type RunHandlers } from "./ingest-files.ts";
import { ingestNotes, isNotePath } from "./ingest-notes.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";

export interface WatchInput
  extends Omit<IngestOptions, "dryRun" | "force">,
    Pick<RunHandlers, "onOutcome"> {
  readonly signal: AbortSignal;
  /** Called when everything present is ingested, with the number of watched folders. */
  readonly onReady?: (folders: number) => void;
  /**
   * The interval of full scans. Default 30 s; longer where scanning would take more than 1 % of the
   * time, up to five minutes.
   */
  readonly reconcileMs?: number;
}

/** Debounce: an agent writes a turn in several pieces, which become one reading. */
const SETTLE_MS = 50;

const RECONCILE_MS = 30_000;
const LOOK_SHARE = 100;
/** The longest interval of full scans, which find changes that the system reported no event for. */
const MAX_WAIT_MS = 5 * 60_000;

/** Interval of checks for folders of new agents, for which there are no file events. */
const APPEAR_MS = 2_000;

/** More changes at once trigger a full scan. */
const MAX_CHANGED = 10_000;

/** Resolves when the signal is aborted and pending entries are stored. */
export async function watchPlaces(tenant: TenantApi, input: WatchInput): Promise<void> {
  checkFields(input, "options", INPUTS.watchPlaces);
  const setting = await createSetting(tenant, input);
  const { signal, reconcileMs = RECONCILE_MS } = input;
  const changed = new Changed(signal);
  const watcher = new FolderWatcher((path) => changed.add(path));
  try {
    let isFirst = true;
    while (!signal.aborted) {
      const started = performance.now();
      const places = await findPlaces(setting);
      // Watch before scanning, so that no write is missed in between.
      for (const { root, place } of places) {
        const isPart = (folder: string) => place.parts?.isIn?.(folder) === true;
        await watcher.add(root, (folder) => place.skips?.(folder) === true && !isPart(folder));
      }
      changed.take();
      const all = findCandidates(setting, undefined, noFinding());
      let looked = performance.now() - started;
      await ingestFiles(setting, all, { ...input, onLooked: (ms) => (looked += ms) });
      if (!signal.aborted) await ingestNotes(setting);
      if (!signal.aborted) await expireSessions(setting);
      if (isFirst) input.onReady?.(watcher.folders);
      isFirst = false;
      const until = Date.now() + waitAfter(looked, reconcileMs);
      await follow(setting, input, places, changed, until);
    }
  } finally {
    watcher.close();
  }
}

/** The delay of the next full scan, after one that took `lookedMs`. */
export function waitAfter(lookedMs: number, reconcileMs: number): number {
  return Math.max(reconcileMs, Math.min(MAX_WAIT_MS, LOOK_SHARE * lookedMs));
}

/** Reads reported files until the next full scan is due. */
async function follow(
  setting: IngestSetting,
  input: WatchInput,
  places: readonly WatchedPlace[],
  changed: Changed,
  until: number,
): Promise<void> {
  const absent = absentRoots(setting, places);
  while (!input.signal.aborted && Date.now() < until) {
    await changed.wait(Math.min(until - Date.now(), APPEAR_MS));
    if (input.signal.aborted || changed.overflowed || absent.some(existsSync)) return;
    if (changed.isEmpty) continue;
    await pause(SETTLE_MS);
    const paths = changed.take();
    const group = await toCandidates(paths, places);
    if (group.length > 0) await ingestFiles(setting, once(group), input);
    if (paths.some((path) => isNotePath(setting, path))) await ingestNotes(setting);
  }
}

interface WatchedPlace {
  readonly root: string;
  readonly place: Place;
  readonly source: TranscriptSource;
}

/** The existing places. */
async function findPlaces({ sources, only, environment }: IngestSetting): Promise<WatchedPlace[]> {
  const found: WatchedPlace[] = [];
  for (const source of only === undefined ? sources : [only]) {
    for (const place of source.places?.(environment) ?? []) {
      try {
        found.push({ root: await realpath(place.root), place, source });
      } catch {
        // Missing: the next scan may find it.
      }
    }
  }
  return found;
}

/** The places of agents that are not installed yet. */
function absentRoots(
  { sources, only, environment }: IngestSetting,
  places: readonly WatchedPlace[],
): string[] {
  const present = new Set(places.map(({ place }) => place.root));
  return (only === undefined ? sources : [only])
    .flatMap((source) => [...(source.places?.(environment) ?? [])])
    .map(({ root }) => root)
    .filter((root) => !present.has(root));
}

async function toCandidates(
  paths: readonly string[],
  places: readonly WatchedPlace[],
): Promise<Candidate[]> {
  const candidates = new Map<string, Candidate>();
  for (const path of paths) {
    const owner = await findOwner(path, places);
    if (owner === undefined || candidates.has(owner.path)) continue;
    const { path: transcript, root, source } = owner;
    try {
      const facts = await lstat(transcript);
      if (!facts.isFile()) continue;
      const file = toFound(root, transcript, facts);
      candidates.set(transcript, { file, hint: source, named: false });
    } catch {
      // Deleted: its session stays.
    }
  }
  return [...candidates.values()];
}

/** The transcript that a file is or belongs to, and its place. */
async function findOwner(
  path: string,
  places: readonly WatchedPlace[],
): Promise<(WatchedPlace & { readonly path: string }) | undefined> {
  for (const each of places) {
    const { root, place } = each;
    if (!isInside(path, root)) continue;
    const way = relative(root, path).split(sep).join("/");
    if (place.matches(way === "" ? basename(path) : way)) return { ...each, path };
    // Any name in the root serves, because access is confined to the root.
    const owner = await place.parts?.ownerOf(way, accessAround(join(root, "any"), root));
    if (owner !== undefined && place.matches(owner)) return { ...each, path: join(root, owner) };
  }
  return undefined;
}

/** Paths reported since the last take. */
class Changed {
  #paths = new Set<string>();
  #wake: (() => void) | undefined;
  overflowed = false;

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  add(path: string): void {
    // A database's log is reported by its own file name.
    if (this.#paths.size >= MAX_CHANGED) this.overflowed = true;
    else this.#paths.add(path.replace(/-wal$/, ""));
    this.#wake?.();
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  take(): string[] {
    const paths = [...this.#paths];
    this.#paths = new Set();
    this.overflowed = false;
    return paths;
  }

  /** Until a report, an abort or the timeout. */
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

// Reports changed files below folders, from the system's file events.
//
// Events are hints: systems drop them, network disks have none, and there may be more folders than
// watches. Callers also scan everything periodically.

/** Systems limit the watches of a user to some thousands; most stay free for other programs. */
const MAX_FOLDERS = 4_096;

/** macOS and Windows watch a whole tree at once. */
const WATCHES_TREES = process.platform === "darwin" || process.platform === "win32";

export class FolderWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: (path: string) => void;
  #closed = false;

  /** `onChange` gets the path that was written, created or deleted. */
  constructor(onChange: (path: string) => void) {
    this.#onChange = onChange;
  }

  get folders(): number {
    return this.#watchers.size;
  }

  /** Watches a folder and all below it. Skips watched and missing folders. */
  async add(folder: string, skips: (path: string) => boolean = () => false): Promise<void> {
    if (WATCHES_TREES) this.#watch(folder, true);
    else await this.#addTree(folder, "", skips);
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #addTree(root: string, path: string, skips: (path: string) => boolean): Promise<void> {
    const folder = join(root, path);
    if (!this.#watch(folder, false, (name) => this.#made(root, join(path, name), skips))) return;
    try {
      for await (const entry of await opendir(folder)) {
        const below = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.isDirectory() && !skips(below)) await this.#addTree(root, below, skips);
      }
    } catch {
      // Deleted or unreadable.
      this.#drop(folder);
    }
  }

  /** Watches a new folder, and reports the files already in it. */
  #made(root: string, path: string, skips: (path: string) => boolean): void {
    const full = join(root, path);
    stat(full).then(
      async (facts) => {
        if (!facts.isDirectory() || this.#watchers.has(full) || skips(path)) return;
        await this.#addTree(root, path, skips);
        await this.#tellAll(full);
      },
      // Deleted again.
      () => this.#drop(full),
    );
  }

  async #tellAll(folder: string): Promise<void> {
    try {
      for await (const entry of await opendir(folder, { recursive: true })) {
        if (entry.isFile()) this.#onChange(join(entry.parentPath, entry.name));
      }
    } catch {
      // The folder was deleted.
    }
  }

  /** False if it cannot be watched, or already is. */
  #watch(folder: string, recursive: boolean, onMade: (name: string) => void = () => {}): boolean {
    if (this.#closed || this.#watchers.has(folder) || this.#watchers.size >= MAX_FOLDERS) {
      return false;
    }
    try {
      const watcher = watch(folder, { recursive }, (event, name) => {
        if (name === null) return;
        this.#onChange(join(folder, name));
        if (event === "rename") onMade(name);
      });
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
      return true;
    } catch {
      // Missing, or the system has no watches left.
      return false;
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}

/**
 * Follows this machine's transcripts in the background of a host, such as a server.
 *
 * Leader election by a lease, per tenant and machine: one process follows, the others stand by.
 */
export interface FollowInput extends WatchInput {
  /** How long to wait while another process follows; 0: not at all. Default: forever. */
  readonly patienceMs?: number;
  /** The owner of the lease. A later process with the same owner takes the lease over: see `holdLease`. */
  readonly owner?: string;
  /**
   * Ends after this long without a read file, once everything present is stored, and at the latest
   * after twelve times as long, since another agent may keep writing.
   */
  readonly quietMs?: number;
}

/** Resolves when the signal is aborted or all is quiet, and pending entries are stored. */
export async function followTranscripts(
  engine: Engine,
  tenant: string,
  input: FollowInput,
): Promise<void> {
  const { patienceMs, owner, quietMs, ...watch } = input;
  const name = `ingest/${tenant}/${await workstationId(input.environment)}`;
  const lease = {
    durationMs: LEASE_MS,
    signal: input.signal,
    ...defined({ patienceMs, owner }),
  };
  await engine.holdLease(name, lease, async (signal) => {
    const place = engine.forTenant(tenant);
    if (quietMs === undefined) await watchPlaces(place, { ...watch, signal });
    else await watchUntilQuiet(place, { ...watch, signal }, quietMs);
  });
}

/** In parts of `quietMs`. */
const MAX_QUIET_WAITS = 12;

async function watchUntilQuiet(
  tenant: TenantApi,
  input: WatchInput,
  quietMs: number,
): Promise<void> {
  const quiet = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;
  let isReady = false;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(), quietMs);
  };
  try {
    await watchPlaces(tenant, {
      ...input,
      signal: AbortSignal.any([input.signal, quiet.signal]),
      onReady: (folders) => {
        isReady = true;
        limit ??= setTimeout(() => quiet.abort(), MAX_QUIET_WAITS * quietMs);
        wait();
        input.onReady?.(folders);
      },
      onOutcome: (outcome) => {
        if (isReady) wait();
        input.onOutcome?.(outcome);
      },
    });
  } finally {
    clearTimeout(timer);
    clearTimeout(limit);
  }
}
