/**
 * JSON text of others, read as the object that providers want.
 *
 * What a model wrote as arguments need not be JSON, and a request must not fail for it. Reading loses
 * what JavaScript cannot hold (digits of big numbers, duplicate keys), so providers that take text
 * get the text.
 */

import { isPlainObject, type JsonObject, stringifyJson } from "../../model/json.ts";

/** The object that `text` is; null if it is none, or could not be written again as valid JSON. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value)) return null;
    // Refuses what nests too deeply, and numbers that became infinite.
    return LONE_SURROGATE.test(stringifyJson(value, "json")) ? null : (value as JsonObject);
  } catch {
    return null;
  }
}

/** The arguments of a call as an object. Other values are wrapped in one. */
export function parseArguments(text: string): JsonObject {
  const trimmed = text.trim();
  // A call without arguments is often written as no text at all.
  if (trimmed === "" || trimmed === "null") return {};
  return parseObject(text) ?? { _raw: text };
}

/** `JSON.stringify` writes half a pair as an escape; an escaped backslash before it is none. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
