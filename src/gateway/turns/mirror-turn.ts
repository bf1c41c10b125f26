/**
 * Denormalisation: copies a turn's counters and marks to the route, under the names that gateways
 * use.
 *
 * The session's values are authoritative. The route has copies so that one read gives the state of
 * a conversation.
 */

import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { RouteFields } from "../../model/route.ts";
import { readAutoState } from "../compaction/session-state.ts";
import { routeOf } from "../routes/route-of.ts";

/** Concurrent turns write the same fields, so the next turn repairs a lost update. */
const MAX_TRIES = 5;

/** Writes only the changed fields, and only while the route leads to the session. */
export async function mirrorTurn(tenant: TenantEngine, session: SessionHandle): Promise<void> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const route = (await routeOf(tenant, session.id))?.route;
    if (route === undefined) return;
    const fields = Object.entries(await readFields(session, route.fields));
    const news = fields.filter(([name, value]) => route.fields[name] !== value);
    if (news.length === 0) return;
    try {
      const expectedVersion = route.version;
      await tenant.routes.patch(route.key, Object.fromEntries(news), { expectedVersion });
      return;
    } catch (error) {
      const isGone = BackscrollError.is(error, "session_key_not_found");
      if (!isGone && !BackscrollError.is(error, "route_conflict")) throw error;
    }
  }
}

/** An imported route has counted compactions elsewhere: the count does not shrink. */
async function readFields(session: SessionHandle, known: RouteFields): Promise<RouteFields> {
  const { tokens, metadata } = await session.meta();
  const { contextTokens } = await session.usage();
  const { compactionCount, memoryFlushAt, memoryFlushCompactionCount } = readAutoState(metadata);
  const { inputTokens, outputTokens } = tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    contextTokens,
    compactionCount: Math.max(compactionCount, known.compactionCount ?? 0),
    ...(memoryFlushAt === null ? {} : { memoryFlushAt }),
    ...(memoryFlushCompactionCount === null ? {} : { memoryFlushCompactionCount }),
  };
}
