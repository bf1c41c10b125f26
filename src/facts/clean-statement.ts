/** A storable part of a fact: one non-empty line of well-formed text. */

import { MAX_FACT_BYTES } from "../model/limits.ts";

/** Undefined if `value` is not text or is too long for a statement. */
export function cleanStatement(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string" || value.length > MAX_FACT_BYTES) return undefined;
  const text = value.toWellFormed().replace(CONTROL_OR_SPACE, " ").trim();
  return text === "" || Buffer.byteLength(text) > MAX_FACT_BYTES ? undefined : text;
}

const CONTROL_OR_SPACE = /[\s\p{Cc}]+/gu;
