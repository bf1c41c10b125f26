import type { JsonObject } from "../model/json.ts";
import { TITLE_FROM_KEY } from "../transcript/title/title-text.ts";
import type { SessionPatch } from "./records.ts";

/** Merges at the top level; a null removes its key. */
export function mergeFields(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...current, ...patch };
  return Object.fromEntries(
    Object.entries(merged).filter(([key]) => !Object.hasOwn(patch, key) || patch[key] !== null),
  );
}

/** Merges a patch; a title that a caller sets clears the mark of a derived title. */
export function patchedMetadata(
  metadata: JsonObject,
  { title, metadata: patch = {} }: Pick<SessionPatch, "title" | "metadata">,
): JsonObject {
  const isSet = title !== undefined && metadata[TITLE_FROM_KEY] !== undefined;
  return mergeFields(metadata, { ...(isSet ? { [TITLE_FROM_KEY]: null } : {}), ...patch });
}
