/**
 * Starts the next session of a key.
 *
 * One transaction creates the session and moves the route by compare-and-swap on its version: of
 * two concurrent starts one wins, and the other finds the winner's session.
 */

import type { SessionHandle } from "../engine/session-handle.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { BackscrollError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { RouteFields, SessionRoute } from "../model/route.ts";
import type { Session } from "../model/session.ts";
import {
  channelOf,
  type DueReset,
  dueReset,
  nextReset,
  type ResetPolicy,
  readSessionKey,
  resetTypeOf,
  resolveResetPolicy,
} from "../routing/resets.ts";
import { formatSessionKey, parentKey } from "../routing/session-key.ts";
import { withoutAutoState } from "./compaction/session-state.ts";
import type { GatewayConfig } from "./config/gateway-config.ts";

interface SessionStart {
  readonly key: string;
  readonly agent: string;
  /** The actor of the first message. */
  readonly actor: string;
  readonly reason: string;
  readonly fields: JsonObject;
  readonly previousSessionId: string | null;
  /** The previous session, if it exists: its retention carries over. */
  readonly previous: Session | undefined;
  /** The route's version as read; 0: no route. */
  readonly version: number;
}

/** Throws `route_conflict` if another process moved the route first. */
export async function startSession(
  tenant: TenantEngine,
  start: SessionStart,
): Promise<SessionRoute> {
  const { key, agent, actor, reason, fields, version, previous } = start;
  const kept = previous && { retention: previous.retention, ttl: previous.ttl };
  const create = {
    agent,
    createdBy: actor,
    participants: [actor],
    metadata: linkOf(start),
    ...kept,
  };
  return tenant.routes.put(key, { create, fields, reason, expectedVersion: version });
}

/**
 * The first session of a thread: a fork of the parent conversation; undefined if that is empty or
 * too long.
 */
export async function forkParent(
  tenant: TenantEngine,
  start: SessionStart,
  config: GatewayConfig,
): Promise<SessionRoute | undefined> {
  const parent = await findParent(tenant, start.key, config.session.parentForkMaxTokens);
  if (parent === undefined) return undefined;
  const { key, actor, reason, fields, version } = start;
  // The host's settings carry over to threads; origin and counters stay with the parent.
  const { previousSessionId: _, resetReason: __, ...own } = (await parent.meta()).metadata;
  const metadata = { ...withoutAutoState(own), ...linkOf(start) };
  const fork = await parent.fork({ createdBy: actor, metadata });
  try {
    const place = { sessionId: fork.id, fields, reason, expectedVersion: version };
    return await tenant.routes.put(key, place);
  } catch (error) {
    // Another process won the route: delete this unreachable fork.
    await fork.delete();
    throw error;
  }
}

/** The session, or undefined if it was deleted. */
export async function findSession(tenant: TenantEngine, id: string): Promise<Session | undefined> {
  try {
    return await tenant.getSessionMeta(id);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}

async function findParent(
  tenant: TenantEngine,
  key: string,
  maxTokens: number,
): Promise<SessionHandle | undefined> {
  const parsed = readSessionKey(key);
  const isThread =
    "branches" in parsed && ["thread", "topic"].includes(parsed.branches.at(-1)?.kind ?? "");
  const above = isThread ? parentKey(parsed) : undefined;
  const route = above === undefined ? undefined : await tenant.routes.find(formatSessionKey(above));
  const session = route === undefined ? undefined : await findSession(tenant, route.sessionId);
  if (session === undefined || session.leaf === null) return undefined;
  const handle = await tenant.getSession(session.id);
  if (maxTokens > 0 && (await handle.usage()).contextTokens > maxTokens) return undefined;
  return handle;
}

/** The metadata that links a session to its key and its predecessor. */
function linkOf({ key, previousSessionId, reason }: SessionStart): JsonObject {
  const sessionKey = { sessionKey: key };
  return previousSessionId === null
    ? sessionKey
    : { ...sessionKey, previousSessionId, resetReason: reason };
}

// Applies the configured reset rules to the session of a key.

type Times = Pick<Session, "startedAt" | "lastInteractionAt">;

/** `channel` is the sender's channel: a key that joins channels names none. */
function policyOf(config: GatewayConfig, key: string, channel?: string): ResetPolicy {
  const parsed = readSessionKey(key);
  const given = channel?.trim().toLowerCase() ?? "";
  const named = given === "" ? channelOf(parsed) : given;
  return resolveResetPolicy(config.session, resetTypeOf(parsed), named);
}

/** Why the route's session is due for a reset; undefined if it is not. */
export function resetDue(
  config: GatewayConfig,
  key: string,
  times: Times,
  now: number,
  channel?: string,
): DueReset | undefined {
  return dueReset(policyOf(config, key, channel), times, now, config.session.timeZone);
}

export function resetAhead(
  config: GatewayConfig,
  key: string,
  times: Times,
  channel?: string,
): DueReset | undefined {
  return nextReset(policyOf(config, key, channel), times, config.session.timeZone);
}

/** The rule as a sentence for users. */
export function explainPolicy(config: GatewayConfig, key: string, channel?: string): string {
  const { mode, atHour, idleMinutes } = policyOf(config, key, channel);
  const hour = `${String(atHour).padStart(2, "0")}:00`;
  const silence = `after ${idleMinutes} ${idleMinutes === 1 ? "minute" : "minutes"} of silence`;
  if (mode === "manual") return "only by command";
  if (mode === "idle") return silence;
  const daily = `daily at ${hour} (${config.session.timeZone})`;
  return idleMinutes === null ? daily : `${daily}, or ${silence}, whichever comes first`;
}

/** From a session back to the key that leads to it. */
interface FoundRoute {
  readonly key: string;
  /** Undefined if the key leads to another session by now. */
  readonly route: SessionRoute | undefined;
}

/** Prefers the current key of the session over a former one. */
export async function routeOf(
  tenant: TenantEngine,
  sessionId: string,
): Promise<FoundRoute | undefined> {
  const known = await tenant.routes.ofSession(sessionId);
  for (const { key } of known) {
    const route = await tenant.routes.find(key);
    if (route?.sessionId === sessionId) return { key, route };
  }
  const [last] = known;
  return last === undefined ? undefined : { key: last.key, route: undefined };
}

/** The session's model: its route's override, else the model of the last answer. */
export async function modelOf(
  handle: SessionHandle,
  { modelOverride }: RouteFields,
): Promise<string | null> {
  if (modelOverride !== undefined) return modelOverride;
  const { reportedBy } = await handle.usage();
  return reportedBy === null ? null : (await handle.getEntry(reportedBy)).model;
}
