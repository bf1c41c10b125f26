/**
 * The kept fields of `toolUseResult`.
 *
 * A line with a tool's result has it twice: as the model saw it, and in this field as the program
 * stores it, with whole files and diffs. The second is half of some transcripts. Of a long one only
 * the short fields and the names of the others are kept; the rest is not parsed.
 */

import type { JsonValue } from "../../model/json.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import { setField } from "../fields.ts";
import { scanFields } from "../json-scan.ts";
import type { FieldDigest } from "../jsonl.ts";

/** In characters of the file. */
const MAX_RESULT = 1024;
const MAX_RESULT_FIELD = MAX_RESULT / 4;

/** The path of an external output, within the length of a path. */
const PATH_FIELD = "persistedOutputPath";
const MAX_PATH = 4096;

export const RESULT_DIGEST: FieldDigest = {
  name: "toolUseResult",
  maxLength: MAX_RESULT,
  of: digestResult,
};

function digestResult(text: string): JsonValue {
  if (!text.trimStart().startsWith("{")) return { omitted: true };
  const kept: Record<string, unknown> = {};
  const omitted: string[] = [];
  for (const { name, start, end } of scanFields(text)) {
    if (end - start > (name === PATH_FIELD ? MAX_PATH : MAX_RESULT_FIELD)) omitted.push(name);
    else setField(kept, name, parseExact(text.slice(start, end)));
  }
  return { ...kept, omitted } as JsonValue;
}
