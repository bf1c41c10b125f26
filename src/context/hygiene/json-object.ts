/**
 * Foreign JSON text as the object that providers require.
 *
 * A model's arguments may be invalid JSON, and a request must not fail because of that. Parsing
 * loses digits of big numbers and duplicate keys, so providers that accept text get the text.
 */

import { isPlainObject, type JsonObject, stringifyJson } from "../../model/json.ts";

/** The object in `text`; null if it is not one, or cannot be written as valid JSON again. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value)) return null;
    // Refuses deep nesting, and numbers that became infinite.
    return LONE_SURROGATE.test(stringifyJson(value, "json")) ? null : (value as JsonObject);
  } catch {
    return null;
  }
}

/** The arguments of a call as an object. Other values are wrapped in one. */
export function parseArguments(text: string): JsonObject {
  const trimmed = text.trim();
  // A call without arguments often has empty text.
  if (trimmed === "" || trimmed === "null") return {};
  return parseObject(text) ?? { _raw: text };
}

/**
 * `JSON.stringify` writes a lone surrogate as an escape; an escaped backslash before it is none.
 */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
