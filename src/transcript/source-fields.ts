/**
 * What an imported entry or session remembers of where it came from: its id there, and the fields that
 * only the source's format has. It stands in the metadata under one key, so that an export to the same
 * format can put back what we have no name for.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";

export const SOURCE_KEY = "source";

export interface SourceFields {
  /** The format's name, such as `pi`. */
  readonly format: string;
  /** The id in the source; null if the format has none. */
  readonly id: string | null;
  /** The parent in the source, where it is another than ours: there, notes may have children. */
  readonly parentId?: string | null;
  /** Fields that have no place of their own here, as they came. */
  readonly fields?: JsonObject;
}

export function toSourceMetadata(source: SourceFields): JsonObject {
  // Its name as it is: one that is looked up takes ten times as long, and every entry comes here.
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

/** Whether the metadata says more than where the entry came from. */
export function hasOwnMetadata(metadata: JsonObject): boolean {
  return Object.entries(metadata).some(
    ([key, value]) => key !== SOURCE_KEY || (isPlainObject(value) && value["fields"] !== undefined),
  );
}
