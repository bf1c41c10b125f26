/**
 * Background maintenance by a server: deletes expired sessions and records, aborts messages of dead
 * writers, and merges the index. A lease elects one of several servers on a store; another takes
 * over after a crash.
 */

import { randomUUID } from "node:crypto";
import { pause } from "../async/pause.ts";
import type { Engine } from "../engine/engine.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { FailureLog, keepRunning } from "../engine/leases/outage.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { LEASE_MS } from "../model/lease.ts";
import { SEARCH_DEADLINE_MS } from "../model/limits.ts";

export interface MaintenanceOptions {
  readonly signal: AbortSignal;
  /** The interval of sweeps. Default 60 s. */
  readonly everyMs?: number;
  /** The lease's duration: how long others wait after a crash. Default 30 s. */
  readonly leaseMs?: number;
  /** Hears of a failure once, until a sweep has succeeded; the next one runs anyway. */
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 60_000;

/**
 * Resolves when the signal is aborted, or the store is closed. Outages are waited for: no failure
 * of the store ends it.
 */
export async function keepUp(engine: Engine, options: MaintenanceOptions): Promise<void> {
  const {
    signal,
    everyMs = EVERY_MS,
    leaseMs = LEASE_MS,
    onError,
  } = checkFields(options, "options", INPUTS.keepUp);
  const log = new FailureLog(onError);
  const owner = randomUUID();
  const hold = () =>
    engine.holdLease("maintenance", { durationMs: leaseMs, signal, owner }, async (turn) => {
      while (!turn.aborted) {
        await maintain(engine, turn, log);
        await pause(everyMs, turn);
      }
    });
  await keepRunning(hold, { signal, onError });
}

/** One round over all tenants. The failure of one step does not stop the others. */
async function maintain(engine: Engine, turn: AbortSignal, log: FailureLog): Promise<void> {
  let isWell = true;
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (BackscrollError.is(error, "store_closed")) throw error;
      isWell = false;
      log.failed(error);
    }
  };
  let tenants: readonly string[] = [];
  await attempt(() => engine.sweepAll());
  await attempt(async () => {
    tenants = await engine.listTenants();
  });
  for (const tenant of tenants) {
    if (turn.aborted) return;
    await attempt(() => engine.forTenant(tenant).maintainIndex("maintain"));
  }
  if (isWell) log.over();
}

/** Frequent words: their posting lists are in every segment. */
const QUERY = "what did we do about the first error in this test";

interface WarmUpOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/**
 * Warms the index of a tenant with one search: it starts the search thread, opens the segments,
 * fills the blob cache with frequent terms, and compiles the code. Without it, the page's first
 * search waits for all of that.
 *
 * Takes at most the default deadline of a search. Never rejects.
 */
export async function warmUp(
  tenant: Pick<TenantApi, "searchSessions">,
  { signal, onError }: WarmUpOptions,
): Promise<void> {
  try {
    await tenant.searchSessions(QUERY, {
      limit: 1,
      // As the page does; a query that is being typed is never embedded.
      asYouType: true,
      deadlineMs: SEARCH_DEADLINE_MS,
      signal,
    });
  } catch (error) {
    if (signal.aborted || BackscrollError.is(error, "store_closed")) return;
    onError(error);
  }
}
