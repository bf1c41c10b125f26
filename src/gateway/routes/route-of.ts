/** From a session back to the key that leads to it. */

import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { RouteFields, SessionRoute } from "../../model/route.ts";

export interface FoundRoute {
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
