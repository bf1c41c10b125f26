/** Builds a checked lease claim with an owner from a host's options. */

import { INPUTS } from "../../model/inputs/index.ts";
import { checkInput, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type HoldLeaseOptions, holdLease, type LeasedWork } from "./hold-lease.ts";

/**
 * Without `owner` every call has its own: two calls of one process exclude each other like two
 * processes.
 */
export async function claimLease(
  engine: EngineContext,
  name: string,
  options: HoldLeaseOptions,
  work: LeasedWork,
): Promise<void> {
  const { durationMs, patienceMs, signal, owner } = checkInput(
    options,
    "options",
    INPUTS.holdLease,
  );
  if (typeof work !== "function") throw invalid("work", "work must be a function");
  const claim = {
    store: engine.store,
    name,
    owner: owner ?? engine.newId(),
    durationMs: Math.ceil(checkDuration(durationMs, "durationMs", 100)),
    ...(patienceMs === undefined ? {} : { patienceMs }),
    ...(signal === undefined ? {} : { signal }),
  };
  await holdLease(claim, work);
}

/** In milliseconds. */
export function checkDuration(value: unknown, field: string, leastMs: number): number {
  if (typeof value === "number" && value >= leastMs && value < 2 ** 31) return value;
  throw invalid(field, `${field} must be a number of milliseconds of at least ${leastMs}`);
}
