/**
 * Selects the sessions to delete: by age, by number, by size.
 *
 * Pure, over plain figures. It spares running sessions, sessions ingested from agents that the
 * configuration does not name, and the current session of a group or a thread.
 */

import type { MAINTENANCE_REPORT, PLANNED_DELETION } from "../../model/answers/gateway.ts";
import type { FieldsOf } from "../../model/shape.ts";
import type { MaintenanceConfig } from "../config/gateway-config.ts";

export interface MaintainedSession {
  readonly sessionId: string;
  readonly lastInteractionAt: number;
  readonly contentBytes: number;
  /** The agent of an ingested session; undefined: written through the API. */
  readonly source: string | undefined;
  /** The key that leads to it. */
  readonly key: string | undefined;
  /** Whether that key is a group's or a thread's. */
  readonly shared: boolean;
  readonly running: boolean;
}

export interface PlannedDeletion extends FieldsOf<typeof PLANNED_DELETION> {}

export interface MaintenancePlan
  extends Omit<FieldsOf<typeof MAINTENANCE_REPORT>, "mode" | "applied" | "skipped"> {}

/** Default share of the budget to shrink to. */
const HIGH_WATER = 0.8;

export function planMaintenance(
  sessions: readonly MaintainedSession[],
  config: MaintenanceConfig,
  now: number,
): MaintenancePlan {
  const ours = sessions.filter(
    ({ source }) => source === undefined || config.ingested.includes(source),
  );
  const free = ours.filter(({ running, shared }) => !running && !shared).sort(oldestFirst);
  const contentBytes = sum(sessions);
  const going = new Map<string, PlannedDeletion>();
  const go = (session: MaintainedSession, reason: PlannedDeletion["reason"]) =>
    going.set(session.sessionId, toDeletion(session, reason));
  const left = () => free.filter(({ sessionId }) => !going.has(sessionId));
  const bytesLeft = () => contentBytes - sum([...going.values()]);

  for (const session of free) {
    if (now - session.lastInteractionAt > config.pruneAfter) go(session, "age");
  }
  const tooMany = config.maxEntries === 0 ? 0 : ours.length - going.size - config.maxEntries;
  for (const session of left().slice(0, Math.max(0, tooMany))) go(session, "count");

  const { maxDiskBytes } = config;
  const highWater = config.highWaterBytes ?? Math.floor((maxDiskBytes ?? 0) * HIGH_WATER);
  let bytes = bytesLeft();
  if (maxDiskBytes !== null && bytes > maxDiskBytes) {
    for (const session of left()) {
      if (bytes <= Math.min(highWater, maxDiskBytes)) break;
      go(session, "disk");
      bytes -= session.contentBytes;
    }
  }
  return {
    deletions: [...going.values()],
    spared: {
      running: ours.filter(({ running }) => running).length,
      shared: ours.filter(({ running, shared }) => shared && !running).length,
      ingested: sessions.length - ours.length,
    },
    sessions: sessions.length,
    contentBytes,
    contentBytesAfter: bytes,
    overBudget: maxDiskBytes !== null && bytes > maxDiskBytes,
  };
}

/** Orders by last use, oldest first. */
function oldestFirst(a: MaintainedSession, b: MaintainedSession): number {
  const current = Number(a.key !== undefined) - Number(b.key !== undefined);
  return current || a.lastInteractionAt - b.lastInteractionAt;
}

function toDeletion(
  { sessionId, key, lastInteractionAt, contentBytes }: MaintainedSession,
  reason: PlannedDeletion["reason"],
): PlannedDeletion {
  return { sessionId, key: key ?? null, reason, lastInteractionAt, contentBytes };
}

function sum(sessions: readonly { readonly contentBytes: number }[]): number {
  return sessions.reduce((bytes, session) => bytes + session.contentBytes, 0);
}
