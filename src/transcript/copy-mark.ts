/**
 * The mark of a session file exported for another agent to continue.
 *
 * Agents ignore unknown fields and append to the file, so the mark survives: the session's on the
 * header, one on each copied line. On ingestion marked lines become copies of the entries that they
 * name, and later lines are new.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { sourceFieldsOf } from "./source-fields.ts";

/** The field's name in every format. */
export const COPY_MARK = "backscroll";

/** Replaces an image in a copied result, in formats with text results. */
export const COPIED_PICTURE = "[image]";

export interface SessionMark {
  readonly version: 1;
  /** Our id of the copied session. */
  readonly session: string;
  /** The last copied entry. */
  readonly through: string;
}

export interface LineMark {
  /** The original of the line. */
  readonly entry?: string;
  /** True for a line added by the writer, such as a result that completes a pair. */
  readonly injected?: true;
}

type Marked = { readonly metadata: JsonObject; readonly data?: JsonValue };

export function sessionMarkOf(session: Marked): SessionMark | undefined {
  const mark = markOf(session);
  if (mark === undefined || mark["version"] !== 1) return undefined;
  const { session: id, through } = mark;
  if (typeof id !== "string" || typeof through !== "string") return undefined;
  return { version: 1, session: id, through };
}

export function lineMarkOf(entry: Marked): LineMark | undefined {
  const mark = markOf(entry);
  if (mark === undefined) return undefined;
  const { entry: id, injected } = mark;
  if (typeof id !== "string" && injected !== true) return undefined;
  return {
    ...(typeof id === "string" ? { entry: id } : {}),
    ...(injected === true ? { injected } : {}),
  };
}

/** The field, if it is an object. */
export function markField(record: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const mark = record[COPY_MARK];
  return isPlainObject(mark) ? (mark as JsonObject) : undefined;
}

function markOf(of: Marked): JsonObject | undefined {
  const { metadata, data = null } = of;
  const fields = sourceFieldsOf({ metadata, data })?.fields ?? {};
  // pi's records have fields beside their messages'.
  const { entry } = fields;
  return markField(fields) ?? (isPlainObject(entry) ? markField(entry) : undefined);
}
