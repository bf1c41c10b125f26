import type { JsonObject } from "../model/json.ts";

/** Merges at the top level; a null removes its key. */
export function mergeMetadata(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...current, ...patch };
  return Object.fromEntries(
    Object.entries(merged).filter(([key]) => !Object.hasOwn(patch, key) || patch[key] !== null),
  );
}
