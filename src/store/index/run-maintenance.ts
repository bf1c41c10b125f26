/**
 * One maintenance step of a tenant's index, from taking the lease to releasing it.
 *
 * Shared by both backends; `IndexMaintenance` has their differences.
 */

import { pause } from "../../async/pause.ts";
import { runLater } from "../../search/drive.ts";
import {
  type Answers,
  type MaintenanceReport,
  type MaintenanceTask,
  type Manifest,
  type Need,
  namedSegments,
  type SansIo,
} from "../../search/port.ts";
import { FLUSH_AT } from "../indexer.ts";
import type { MaintenanceOptions } from "./index-code.ts";
import type { IndexingOptions } from "./indexing-options.ts";
import { DROPPED_KEPT_MS, type Lease, RENEW_AFTER } from "./lease.ts";

/** The operations of a backend for one step. */
export interface IndexMaintenance {
  takeLease(): Promise<Lease | undefined>;
  /** False if the lease was taken over. */
  renewLease(lease: Lease): Promise<boolean>;
  releaseLease(lease: Lease): Promise<void>;
  answer(need: Exclude<Need, { need: "yield" }>, lease: Lease): Promise<Answers[keyof Answers]>;
  /** At a yield point: ends the snapshot, unless the feed is being read; SQLite also checkpoints. */
  rest(): Promise<void>;
  /**
   * Deletes segments that no manifest has named for `keptMs`. `isIdle`: no further maintenance is
   * due.
   */
  clean(keptMs: number, isIdle: boolean): Promise<void>;
  /** The index's position, and the feed's end. */
  position(): Promise<{ readonly through: number; readonly head: number }>;
}

const LEAST_SHARE = 0.05;
/** Caps the measured time, which may include the machine's sleep. */
const LONGEST_WORK_MS = 100;

/** A request to stop at the next yield. */
export interface StopSignal {
  readonly stopped: boolean;
}

export async function runMaintenance(
  maintenance: IndexMaintenance,
  task: MaintenanceTask,
  computation: SansIo<MaintenanceReport>,
  signal: StopSignal,
  mergeShare = 1,
): Promise<MaintenanceReport> {
  const pace = new Pace(mergeShare);
  let lease = await maintenance.takeLease();
  if (lease === undefined) return unfinished(maintenance, true);
  let renewedAt = performance.now();

  const yieldAndRenew = async (held: Lease) => {
    await turn();
    if (signal.stopped) throw new Interrupted();
    await maintenance.rest();
    if (performance.now() - renewedAt < held.ms * RENEW_AFTER) return;
    renewedAt = performance.now();
    if (await maintenance.renewLease(held)) return;
    lease = undefined;
    throw new Interrupted();
  };

  try {
    const held = lease;
    const report = await runLater(computation, async (need) => {
      if (need.need === "yield") {
        if (need.gentle) await pace.rest();
        return yieldAndRenew(held) as Promise<undefined>;
      }
      return maintenance.answer(need, held);
    });
    if (task !== "flush" && task !== "merge") {
      const isPurge = task === "purge";
      await maintenance.clean(isPurge ? 0 : DROPPED_KEPT_MS, isPurge || !report.more);
    }
    return report;
  } catch (error) {
    if (error instanceof Interrupted) return await unfinished(maintenance, lease === undefined);
    throw error;
  } finally {
    if (lease !== undefined) await maintenance.releaseLease(lease);
  }
}

/** A duty-cycle throttle: sleeps in proportion to the work. */
class Pace {
  readonly #share: number;
  #restedAt = performance.now();

  constructor(share: number) {
    this.#share = Math.min(1, Math.max(LEAST_SHARE, share));
  }

  async rest(): Promise<void> {
    if (this.#share === 1) return;
    const worked = Math.min(LONGEST_WORK_MS, performance.now() - this.#restedAt);
    const rest = worked * (1 / this.#share - 1);
    // Timers have no finer resolution.
    if (rest < 2) return;
    await pause(rest);
    this.#restedAt = performance.now();
  }
}

/** The lease is lost, or the store is closing. Unswapped work is discarded. */
class Interrupted extends Error {}

async function unfinished(
  maintenance: IndexMaintenance,
  busy: boolean,
): Promise<MaintenanceReport> {
  return { busy, more: true, documents: 0, ...(await maintenance.position()) };
}

/** Yields one turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Options of a maintenance step: the flush threshold and the segments to rebuild, which are those
 * that a search `reported` and those `named` by the manifest but not `stored`.
 */
export function maintenanceOptions(
  indexing: IndexingOptions,
  reported: readonly number[],
  { named, stored }: { readonly named: Manifest; readonly stored: readonly number[] },
): MaintenanceOptions {
  const there = new Set(stored);
  const missing = namedSegments(named).filter((segment) => !there.has(segment));
  // 0 disables automatic flushes only.
  const flushAt = indexing.flushAt || FLUSH_AT;
  return { indexing, flushAt, unreadable: new Set([...reported, ...missing]) };
}
