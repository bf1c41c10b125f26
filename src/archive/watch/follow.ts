/**
 * Follows this machine's transcripts in the background of a host, such as a server.
 *
 * Leader election by a lease, per tenant and machine: one process follows, the others stand by.
 */

import type { Engine } from "../../engine/engine.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { workstationId } from "../../ingest/identity/workstation.ts";
import { LEASE_MS } from "../../model/lease.ts";
import { type WatchInput, watchPlaces } from "./watch.ts";

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
    ...(patienceMs === undefined ? {} : { patienceMs }),
    ...(owner === undefined ? {} : { owner }),
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
