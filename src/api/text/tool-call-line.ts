/** A tool call on one line: its name and main argument. */

import { MAIN_ARGUMENTS } from "../../model/main-arguments.ts";
import { readableJson } from "./readable-json.ts";

/** `Edit({"file_path": …})` as `Edit src/cart.ts`; undefined if it is not a call. */
export function toolCallLine(snippet: string): string | undefined {
  const [, name, input] = /^([\w.:-]{1,80})\((\{[\s\S]*)$/.exec(snippet.trim()) ?? [];
  if (name === undefined || input === undefined) return undefined;
  const told = telling(input.replace(/\)[^)}]*$/, ""));
  return `${name} ${told ?? readableJson(input).text}`;
}

/** The main argument of a call, also of a truncated one. */
export function telling(input: string): string | undefined {
  const fields = parseObject(input);
  for (const key of MAIN_ARGUMENTS) {
    const value = fields === undefined ? valueIn(input, key) : fields[key];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (Array.isArray(value) && value.every((part) => typeof part === "string")) {
      return value.join(" ");
    }
  }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function valueIn(text: string, key: string): string | undefined {
  const found = new RegExp(`"${key}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*)`).exec(text)?.[1];
  return found === undefined ? undefined : readableJson(found).text;
}
