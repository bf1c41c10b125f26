/** A file that is one JSON value, read whole: what is larger than a line may be is left out. */

import { MAX_JSON_DEPTH } from "../model/limits.ts";
import { parseExact } from "../transcript/exact-json.ts";
import { nestsDeeper } from "./jsonl.ts";
import { type Line, MAX_LINE_BYTES } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

/** The value; undefined, and a problem, if there is none. */
export async function readJson(lines: AsyncIterable<Line>, problems: ProblemLog): Promise<unknown> {
  const text = await joinLines(lines, problems);
  if (text === undefined || text.trim() === "") return undefined;
  const value = parseJson(text);
  if (value === undefined) problems.add("not_json", NO_DOCUMENT);
  return value;
}

export const NO_DOCUMENT = "the file is no JSON, or nests too deeply; was it cut off?";

/** Undefined if they are too long. The lines are let go of before the text is parsed. */
async function joinLines(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): Promise<string | undefined> {
  const parts: string[] = [];
  let length = 0;
  for await (const { text, damage, number } of lines) {
    length += text.length;
    if (damage === "too_long" || length > MAX_LINE_BYTES) {
      problems.add("line_too_long", "the file is longer than 64 MiB and was left out", number);
      return undefined;
    }
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    parts.push(text);
  }
  return parts.join("\n");
}

/** Undefined if `text` is no JSON, or nests deeper than our own input may. */
export function parseJson(text: string): unknown {
  try {
    const value = parseExact(text);
    return nestsDeeper(value, MAX_JSON_DEPTH) ? undefined : value;
  } catch {
    // Told by whoever knows what the text is.
    return undefined;
  }
}
