/**
 * Background maintenance by a server: deletes expired sessions and records, aborts messages of dead
 * writers, and merges the index. A lease elects one of several servers on a store; another takes
 * over after a crash.
 */

import { pause } from "../async/pause.ts";
import type { Engine } from "../engine/engine.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { LEASE_MS } from "../model/lease.ts";

export interface MaintenanceOptions {
  readonly signal: AbortSignal;
  /** The interval of sweeps. Default 60 s. */
  readonly everyMs?: number;
  /** The lease's duration: how long others wait after a crash. Default 30 s. */
  readonly leaseMs?: number;
  /** Receives the error of a failed sweep; the next one runs anyway. */
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 60_000;

/** Resolves when the signal is aborted. */
export async function keepUp(engine: Engine, options: MaintenanceOptions): Promise<void> {
  const {
    signal,
    everyMs = EVERY_MS,
    leaseMs = LEASE_MS,
    onError,
  } = checkFields(options, "options", INPUTS.keepUp);
  await engine.holdLease("maintenance", { durationMs: leaseMs, signal }, async (turn) => {
    while (!turn.aborted) {
      let isOpen = await attempt(() => engine.sweepAll(), onError);
      let tenants: readonly string[] = [];
      isOpen &&= await attempt(async () => {
        tenants = await engine.listTenants();
      }, onError);
      for (const tenant of tenants) {
        if (turn.aborted || !isOpen) return;
        isOpen = await attempt(() => engine.forTenant(tenant).maintainIndex("maintain"), onError);
      }
      if (!isOpen) return;
      await pause(everyMs, turn);
    }
  });
}

/** A tenant's failure does not stop the others. False once the store is closed. */
async function attempt(
  work: () => Promise<unknown>,
  onError: MaintenanceOptions["onError"],
): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (BackscrollError.is(error, "store_closed")) return false;
    onError(error);
  }
  return true;
}
