/**
 * The fields of a route that survive a reset.
 *
 * An allow-list: fields that it does not name belong to the conversation that ended.
 */

import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";

/** What describes the place: it is the same place. A chat that was muted stays so. */
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
