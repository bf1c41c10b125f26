/** Reads a file of one JSON value as a whole; files above the line limit are skipped. */

import { MAX_JSON_DEPTH, MAX_RECORD_VALUES } from "../model/limits.ts";
import { parseExact } from "../transcript/exact-json.ts";
import { hasMoreValues } from "./json-scan.ts";
import { nestsDeeper } from "./jsonl.ts";
import { type Line, MAX_LINE_BYTES } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

/** The value; undefined, with a problem, if invalid. */
export async function readJson(lines: AsyncIterable<Line>, problems: ProblemLog): Promise<unknown> {
  const text = await joinLines(lines, problems);
  if (text === undefined || text.trim() === "") return undefined;
  const value = parseJson(text);
  if (value === undefined) problems.add("not_json", NO_DOCUMENT);
  return value;
}

export const NO_DOCUMENT =
  "the file is not JSON, nests too deeply or holds too many values; was it cut off?";

/** Undefined if too long. The lines are released before the text is parsed. */
export async function joinLines(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): Promise<string | undefined> {
  const parts: string[] = [];
  let length = 0;
  for await (const { text, damage, number, moreValuesThan } of lines) {
    length += text.length;
    if (damage === "too_long" || length > MAX_LINE_BYTES) {
      problems.add("line_too_long", "the file is longer than 64 MiB and was left out", number);
      return undefined;
    }
    if (moreValuesThan !== undefined) {
      const what = `the line holds more than ${moreValuesThan} values; the file was left out`;
      problems.add("unexpected", what, number);
      return undefined;
    }
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    parts.push(text);
  }
  return parts.join("\n");
}

/** Undefined if `text` is invalid, nests too deeply, or holds too many values. */
export function parseJson(text: string): unknown {
  if (hasMoreValues(text, MAX_RECORD_VALUES)) return undefined;
  try {
    const value = parseExact(text);
    return nestsDeeper(value, MAX_JSON_DEPTH) ? undefined : value;
  } catch {
    // The caller reports it, since it knows the format.
    return undefined;
  }
}
