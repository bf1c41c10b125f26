/**
 * The source's identity and fields of an imported entry or session, under one metadata key, so that
 * an export to the same format can restore fields that we lack.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";

export const SOURCE_KEY = "source";

export interface SourceFields {
  /** The format's name, such as `pi`. */
  readonly format: string;
  /** The id in the source; null if the format has none. */
  readonly id: string | null;
  /** The parent in the source, if it differs from ours: there, annotations may have children. */
  readonly parentId?: string | null;
  /** Fields without a counterpart here, unchanged. */
  readonly fields?: JsonObject;
}

export function toSourceMetadata(source: SourceFields): JsonObject {
  // A literal key: a computed one takes ten times as long, and every entry comes here.
  return { source: source as unknown as JsonObject } satisfies Record<typeof SOURCE_KEY, unknown>;
}

/** The fields of the source record, if it has this format. Large fields are in `data`. */
export function sourceFieldsOf(
  of: { readonly metadata: JsonObject; readonly data?: JsonValue },
  format?: string,
): SourceFields | undefined {
  const source = of.metadata[SOURCE_KEY];
  if (!isPlainObject(source) || typeof source["format"] !== "string") return undefined;
  if (format !== undefined && source["format"] !== format) return undefined;
  const moved = isPlainObject(of.data) ? of.data[SOURCE_KEY] : undefined;
  const fields = isPlainObject(moved) ? { fields: moved as JsonObject } : {};
  return { ...(source as unknown as SourceFields), ...fields };
}

/** Whether the metadata has more than the source's fields. */
export function hasOwnMetadata(metadata: JsonObject): boolean {
  return Object.entries(metadata).some(
    ([key, value]) => key !== SOURCE_KEY || (isPlainObject(value) && value["fields"] !== undefined),
  );
}

/** Names of our own records in pi's format, for features that it lacks. */

/** A final record that points to the leaf, if it is not at the last line. */
export const LEAF_MARK = "backscroll:leaf";

/** A system message, which pi's sessions lack. */
export const SYSTEM_MARK = "backscroll:system";
