/**
 * Decides whether a session is due for a reset.
 *
 * The daily rule counts from the session's start, the idle rule from the last user message.
 * Bookkeeping affects neither. A clock that goes back makes a session younger, which never ends it.
 */

import { lastBoundary, nextBoundary } from "./daily-boundary.ts";
import type { ResetPolicy } from "./reset-policy.ts";

export interface SessionTimes {
  readonly startedAt: number;
  readonly lastInteractionAt: number;
}

export type StaleReason = "daily" | "idle";

export interface DueReset {
  readonly reason: StaleReason;
  /** From this instant on, the next message starts another session. */
  readonly at: number;
}

/** Why the session is due for a reset; undefined while it is fresh. Of two reasons the earlier. */
export function dueReset(
  policy: ResetPolicy,
  times: SessionTimes,
  now: number,
  timeZone: string,
): DueReset | undefined {
  if (policy.mode === "daily" && lastBoundary(now, policy.atHour, timeZone) <= times.startedAt) {
    // Fast path: the day cannot be over.
    return idleReset(policy, times, now);
  }
  const next = nextReset(policy, times, timeZone);
  return next !== undefined && next.at <= now ? next : undefined;
}

/** The instant of the next reset if no message comes; undefined: never. */
export function nextReset(
  policy: ResetPolicy,
  times: SessionTimes,
  timeZone: string,
): DueReset | undefined {
  const { mode, atHour } = policy;
  if (mode === "manual") return undefined;
  const idle = idleReset(policy, times, Number.POSITIVE_INFINITY);
  if (mode === "idle") return idle;
  const daily: DueReset = { reason: "daily", at: nextBoundary(times.startedAt, atHour, timeZone) };
  return idle !== undefined && idle.at < daily.at ? idle : daily;
}

/** Strictly more than the minutes. */
function idleReset(
  { mode, idleMinutes }: ResetPolicy,
  { lastInteractionAt }: SessionTimes,
  now: number,
): DueReset | undefined {
  if (mode === "manual" || idleMinutes === null) return undefined;
  const at = lastInteractionAt + idleMinutes * 60_000 + 1;
  return at <= now ? { reason: "idle", at } : undefined;
}
