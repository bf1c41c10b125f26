/**
 * The mark in a session file that was written from a session of ours for another agent to continue.
 *
 * The agents ignore fields that they do not know and append to the file, so the mark survives: the
 * session's own on the header, one on each copied line. On ingestion the marked lines are copies of the
 * entries that they name, and what follows them is new.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { sourceFieldsOf } from "./source-fields.ts";

/** The field's name, in whatever format. */
export const COPY_MARK = "backscroll";

/** Replaces a picture in a copied result, in formats whose results are text. */
export const COPIED_PICTURE = "[image]";

export interface SessionMark {
  readonly version: 1;
  /** Our id of the session that was copied. */
  readonly session: string;
  /** The last entry that was copied. */
  readonly through: string;
}

export interface LineMark {
  /** The entry that the line is a copy of. */
  readonly entry?: string;
  /** True where the writer added the line, as a result for a call that had none. */
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

/** The field as a reader keeps it, where it is an object. */
export function markField(record: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const mark = record[COPY_MARK];
  return isPlainObject(mark) ? (mark as JsonObject) : undefined;
}

function markOf(of: Marked): JsonObject | undefined {
  const { metadata, data = null } = of;
  const fields = sourceFieldsOf({ metadata, data })?.fields ?? {};
  // pi's records have fields beside those of their messages.
  const { entry } = fields;
  return markField(fields) ?? (isPlainObject(entry) ? markField(entry) : undefined);
}
