/** Sweeps in short pieces, so that the lock is never held for long. */

import { pause } from "../async/pause.ts";
import type { SweepResult } from "../store/requests.ts";
import type { EngineContext } from "./engine-context.ts";
import { applyAllRetention } from "./retention/apply-retention.ts";

/** Sessions deleted, messages aborted or blobs collected by one call of `sweep`. */
const SWEEP_LIMIT = 4;

export interface SweepReport extends SweepResult {
  /** Entries of interrupted erasures. */
  readonly erasedEntries: number;
}

/** Repeats short sweeps until nothing is due; each holds the write lock briefly. */
export async function sweepAll(
  sweep: (limit: number) => Promise<SweepResult>,
): Promise<SweepResult> {
  let total: SweepResult | undefined;
  for (;;) {
    const start = performance.now();
    const part = await sweep(SWEEP_LIMIT);
    const heldMs = performance.now() - start;
    total = {
      deletedSessions: [...(total?.deletedSessions ?? []), ...part.deletedSessions],
      abortedMessages: [...(total?.abortedMessages ?? []), ...part.abortedMessages],
      forgottenKeys: (total?.forgottenKeys ?? 0) + part.forgottenKeys,
      collectedBlobs: (total?.collectedBlobs ?? 0) + part.collectedBlobs,
      deletedRecords: (total?.deletedRecords ?? 0) + part.deletedRecords,
      more: part.more,
    };
    if (!part.more) return total;
    // Leaves foreground writers as much time as the sweep took.
    await pause(heldMs);
  }
}

/** Sweeps one tenant, and completes interrupted erasures of its sessions. */
export async function sweepTenant(engine: EngineContext): Promise<SweepReport> {
  const { store, tenant } = engine;
  const swept = await sweepAll((limit) => store.sweep({ tenant, now: engine.now(), limit }));
  return { ...swept, erasedEntries: await applyAllRetention(engine) };
}
