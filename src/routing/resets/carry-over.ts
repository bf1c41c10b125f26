/**
 * The fields of a route that survive a reset.
 *
 * An allow-list: other fields belong to the ended conversation.
 */

import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";

/** Labels of the place, which stays the same. A muted chat stays muted. */
const OF_THE_PLACE = [
  "chatType",
  "provider",
  "subject",
  "room",
  "space",
  "displayName",
  "sendPolicy",
] as const satisfies readonly (keyof RouteFields)[];

/** Preferences of the person: kept by an explicit reset, dropped by the daily one. */
const OF_THE_PERSON = [
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
] as const satisfies readonly (keyof RouteFields)[];

/**
 * The fields of the route's next session. Counters start at zero, flush marks are dropped, and no
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
