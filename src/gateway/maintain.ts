/**
 * Maintenance: reports the sessions that the rules would delete, and deletes them in mode
 * `enforce`.
 *
 * Each session is checked again right before its deletion: one that was written to meanwhile stays.
 */

import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { MAINTENANCE_REPORT, PLANNED_DELETION } from "../model/answers/gateway.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import type { FieldsOf } from "../model/shape.ts";
import { readSessionKey, resetTypeOf } from "../routing/resets.ts";
import type { GatewayConfig, MaintenanceConfig } from "./config/gateway-config.ts";
import { findSession } from "./start-session.ts";

export interface MaintainOptions {
  /** Reports the plan only, in any mode. */
  readonly dryRun?: boolean;
  /** Whether the host is working in a session, which the store cannot know. */
  readonly isRunning?: (sessionId: string) => boolean;
  /** The clock, in epoch milliseconds. Default: the machine's. */
  readonly now?: () => number;
}

export interface MaintenanceReport extends FieldsOf<typeof MAINTENANCE_REPORT> {}

/** A turn may take minutes from the user's message to the first word of the answer. */
const RUNNING_MS = 10 * 60_000;

export async function maintainSessions(
  tenant: TenantEngine,
  config: GatewayConfig,
  options: MaintainOptions = {},
): Promise<MaintenanceReport> {
  const { dryRun = false, now = Date.now } = checkFields(
    options,
    "options",
    INPUTS.maintainSessions,
  );
  const { maintenance } = config.session;
  const plan = planMaintenance(await survey(tenant, options, now()), maintenance, now());
  const applied = maintenance.mode === "enforce" && !dryRun;
  if (!applied) return { ...plan, mode: maintenance.mode, applied, skipped: [] };
  const skipped: string[] = [];
  for (const deletion of plan.deletions) {
    const isGone = await deleteUnchanged(tenant, deletion, options, now());
    if (!isGone) skipped.push(deletion.sessionId);
  }
  return { ...plan, mode: maintenance.mode, applied, skipped };
}

async function survey(
  tenant: TenantEngine,
  options: MaintainOptions,
  now: number,
): Promise<MaintainedSession[]> {
  const keys = await currentKeys(tenant);
  const found: MaintainedSession[] = [];
  for (let cursor: string | undefined; ; ) {
    const { sessions, nextCursor } = await tenant.listSessions({
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const sizes = await tenant.sessionSizes(sessions.map(({ id }) => id));
    const byId = new Map(sizes.map((size) => [size.sessionId, size]));
    for (const session of sessions) {
      const { contentBytes = 0, openMessages = 0 } = byId.get(session.id) ?? {};
      const key = keys.get(session.id);
      found.push({
        sessionId: session.id,
        lastInteractionAt: session.lastInteractionAt,
        contentBytes,
        source: session.origin.source,
        key,
        shared: key !== undefined && resetTypeOf(readSessionKey(key)) !== "direct",
        running: openMessages > 0 || isBusy(session, options, now),
      });
    }
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}

async function currentKeys(tenant: TenantEngine): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  for (let after: string | undefined; ; ) {
    const at = after === undefined ? {} : { after };
    const routes = await tenant.routes.list({ limit: MAX_PAGE, ...at });
    for (const { key, sessionId } of routes) keys.set(sessionId, key);
    if (routes.length < MAX_PAGE) return keys;
    after = routes.at(-1)?.key;
  }
}

function isBusy(session: Session, { isRunning }: MaintainOptions, now: number): boolean {
  const sinceWrite = now - session.lastWriteAt;
  // A negative age means that the clock went back: do not count it as recent.
  const isRecent = sinceWrite >= 0 && sinceWrite < RUNNING_MS;
  return isRecent || (isRunning?.(session.id) ?? false);
}

/** False if the session has changed or is gone. */
async function deleteUnchanged(
  tenant: TenantEngine,
  deletion: PlannedDeletion,
  options: MaintainOptions,
  now: number,
): Promise<boolean> {
  const { sessionId, key, lastInteractionAt } = deletion;
  const session = await findSession(tenant, sessionId);
  if (session === undefined || session.lastInteractionAt !== lastInteractionAt) return false;
  const [size] = await tenant.sessionSizes([sessionId]);
  if ((size?.openMessages ?? 0) > 0 || isBusy(session, options, now)) return false;
  try {
    await tenant.deleteSession(sessionId);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return false;
    throw error;
  }
  if (key !== null) await deleteRoute(tenant, key, sessionId);
  return true;
}

/** Deletes the route unless another process points it at another session meanwhile. */
async function deleteRoute(tenant: TenantEngine, key: string, sessionId: string): Promise<void> {
  const route = await tenant.routes.find(key);
  if (route?.sessionId === sessionId) await tenant.routes.delete(key);
}

/**
 * Selects the sessions to delete: by age, by number, by size.
 *
 * Pure, over plain figures. It spares running sessions, sessions ingested from agents that the
 * configuration does not name, and the current session of a group or a thread.
 */
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
