/**
 * Garbage collection that is safe beside running graphs. Checkpoints are deleted first; then the
 * remaining ones are read, and values that none of them names are deleted. Values are listed before
 * the checkpoints are read, so that those of a new checkpoint are not among them.
 */

import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import { isPlainObject } from "../../model/json.ts";
import type { StoredRecord } from "../../model/record.ts";
import { deleteBelow, deleteKeys } from "../common/records.ts";
import type { StoredValue } from "./channel-values.ts";
import {
  checkpointKey,
  checkpointsOf,
  type Line,
  readCheckpointKey,
  valueKey,
  valuesOf,
  writesOf,
} from "./keys.ts";

export interface PruneOptions {
  /** Default: all threads. */
  readonly threadId?: string;
  /** The newest checkpoints of each thread to keep. Default: 1; 0 deletes whole threads. */
  readonly keep?: number;
  /** Deletes only checkpoints older than this. Default: 0. */
  readonly olderThanSeconds?: number;
}

export interface Pruned {
  readonly checkpoints: number;
  /** Records that were deleted: checkpoints, writes and values. */
  readonly records: number;
}

export interface PrunedStore {
  readonly records: RecordsApi;
  readonly namespace: string;
  read(record: StoredRecord): Promise<PrunedCheckpoint>;
}

interface PrunedCheckpoint {
  readonly parent: string | null;
  readonly channels: ReadonlyMap<string, StoredValue>;
  /** Milliseconds. */
  readonly at: number;
  readonly metadata: unknown;
}

interface Candidate extends Line {
  readonly key: string;
  readonly id: string;
  readonly parent: string | null;
  readonly at: number;
  /** Ancestors whose writes it needs. */
  readonly needed: number;
}

export async function pruneThreads(store: PrunedStore, options: PruneOptions): Promise<Pruned> {
  const { threadId, keep = 1, olderThanSeconds = 0 } = options;
  const place = threadId === undefined ? {} : { thread: threadId };
  const limit = Date.now() - 1_000 * olderThanSeconds;
  let checkpoints = 0;
  let records = 0;
  for await (const thread of threadsBelow(store, checkpointsOf(place))) {
    const gone = chooseGone(thread, keep, limit);
    if (gone.length === 0) continue;
    checkpoints += gone.length;
    records += await deleteKeys(
      store.records,
      store.namespace,
      gone.map(({ key }) => key),
    );
    for (const { id, ...line } of gone) {
      records += await deleteBelow(store.records, store.namespace, writesOf(line, id));
    }
    const lines = new Map(gone.map((line) => [line.ns, line]));
    for (const line of lines.values()) records += await deleteUnnamed(store, line);
  }
  return { checkpoints, records };
}

/** Values of a line that no checkpoint names. */
async function deleteUnnamed(store: PrunedStore, line: Line): Promise<number> {
  const listed = new Set<string>();
  for await (const { key } of below(store, valuesOf(line), false)) listed.add(key);
  for await (const record of below(store, checkpointsOf(line), true)) {
    const { channels } = await store.read(record as StoredRecord);
    for (const { pieces } of channels.values()) {
      for (const [id] of pieces) listed.delete(valueKey(line, id));
    }
  }
  return deleteKeys(store.records, store.namespace, [...listed]);
}

/** The checkpoints of a thread to delete. */
function chooseGone(thread: readonly Candidate[], keep: number, limit: number): Candidate[] {
  const byKey = new Map(thread.map((candidate) => [candidate.key, candidate]));
  const kept = new Set<string>();
  const count = new Map<string, number>();
  const root = thread.filter(({ ns }) => ns === "");
  const oldestRoot = root.slice(0, Math.max(keep, 1)).at(-1)?.id ?? "";
  for (const candidate of thread) {
    const { ns, id, at } = candidate;
    const seen = count.get(ns) ?? 0;
    count.set(ns, seen + 1);
    // A subgraph without its own memory has a namespace per call, which is deleted with that call.
    const isOfCall = ns.includes(":") && id < oldestRoot;
    if (at >= limit || (seen < keep && !isOfCall)) keepWithNeeded(candidate, byKey, kept);
  }
  return thread.filter(({ key }) => !kept.has(key));
}

function keepWithNeeded(
  candidate: Candidate,
  byKey: ReadonlyMap<string, Candidate>,
  kept: Set<string>,
): void {
  let current: Candidate | undefined = candidate;
  for (let left = candidate.needed; current !== undefined; left--) {
    kept.add(current.key);
    if (left <= 0 || current.parent === null) return;
    current = byKey.get(checkpointKey(current, current.parent));
  }
}

/** Supersteps since the last whole value of a channel that is stored as its writes. */
function neededBy(metadata: unknown): number {
  const counters = isPlainObject(metadata) ? metadata["counters_since_delta_snapshot"] : undefined;
  if (!isPlainObject(counters)) return 0;
  const steps = Object.values(counters).map((pair) => Number((pair as readonly number[])[1]));
  return Math.max(0, ...steps) + 1;
}

/** Thread after thread, each with its checkpoints from the newest to the oldest of a namespace. */
async function* threadsBelow(
  store: PrunedStore,
  prefix: string,
): AsyncGenerator<readonly Candidate[]> {
  let thread: Candidate[] = [];
  for await (const record of below(store, prefix, true)) {
    const name = readCheckpointKey(record.key);
    const { parent, at, metadata } = await store.read(record as StoredRecord);
    if (thread.length > 0 && thread[0]?.thread !== name.thread) {
      yield thread;
      thread = [];
    }
    thread.push({ ...name, key: record.key, parent, at, needed: neededBy(metadata) });
  }
  if (thread.length > 0) yield thread;
}

async function* below(
  { records, namespace }: Pick<PrunedStore, "records" | "namespace">,
  prefix: string,
  values: boolean,
): AsyncGenerator<{ readonly key: string }> {
  yield* eachRecord(records, { namespace, prefix, values });
}
