/**
 * Following this machine's transcripts beside something else, such as a server: of the processes of
 * this machine that do so for one tenant of one store, one works and the others stand by.
 */

import type { Engine } from "../../engine/engine.ts";
import { workstationId } from "../../ingest/identity/workstation.ts";
import { type WatchInput, watchPlaces } from "./watch.ts";

/** How long the others wait for one that has died. */
const LEASE_MS = 30_000;

/** Resolves when the signal is aborted and what was under way is stored. */
export async function followTranscripts(
  engine: Engine,
  tenant: string,
  input: WatchInput,
): Promise<void> {
  const name = `ingest/${tenant}/${await workstationId(input.environment)}`;
  await engine.holdLease(name, { durationMs: LEASE_MS, signal: input.signal }, (signal) =>
    watchPlaces(engine.forTenant(tenant), { ...input, signal }),
  );
}
