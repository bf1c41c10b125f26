/**
 * What of a route outlives a reset.
 *
 * The new session's fields are chosen one by one and never by copying the old ones: whatever nobody
 * thought of belongs to the conversation that ended.
 */

import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";

/** What describes the place: it is the same place. A chat that was muted stays so. */
const OF_THE_PLACE = [
  ...["chatType", "provider", "subject", "room", "space", "displayName"],
  "sendPolicy",
] as const satisfies readonly (keyof RouteFields)[];

/** How somebody likes to be answered: kept when they ask for a new session, and not overnight. */
const OF_THE_PERSON = [
  ...["thinkingLevel", "verboseLevel", "reasoningLevel"],
] as const satisfies readonly (keyof RouteFields)[];

/**
 * The fields of the next session of a route. Counters start at zero, marks of flushes are gone, and no
 * choice of a model, an account or elevated rights is kept.
 */
export function carryOver(fields: JsonObject, reset: "explicit" | "stale"): JsonObject {
  const kept: readonly string[] =
    reset === "explicit" ? [...OF_THE_PLACE, ...OF_THE_PERSON] : OF_THE_PLACE;
  const carried = kept.flatMap((name) => {
    const value = fields[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(carried), compactionCount: 0 };
}
