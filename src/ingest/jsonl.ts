/** Lines that each hold a JSON object: what most agents write. */

import { isPlainObject } from "../model/json.ts";
import { MAX_JSON_DEPTH } from "../model/limits.ts";
import { parseExact } from "../transcript/exact-json.ts";
import type { Line } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

export interface JsonRecord {
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Gives the objects. What is none is counted and left out; empty lines mean nothing. */
export async function* readRecords(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<JsonRecord> {
  for await (const line of lines) {
    const record = parseLine(line, problems);
    if (record !== undefined) yield { line: line.number, record };
  }
}

function parseLine(line: Line, problems: ProblemLog): Record<string, unknown> | undefined {
  const { number, text, damage, ended } = line;
  if (damage === "too_long") {
    problems.add("line_too_long", "the line is longer than 64 MiB and was left out", number);
    return undefined;
  }
  if (text.trim() === "") return undefined;
  try {
    const value = parseExact(text);
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    if (!isPlainObject(value)) {
      problems.add("unexpected", "the line is JSON, but no object", number);
    } else if (nestsDeeper(value, MAX_JSON_DEPTH)) {
      problems.add("unexpected", `the line nests deeper than ${MAX_JSON_DEPTH} levels`, number);
    } else return value;
  } catch (cause) {
    const reason = cause instanceof RangeError ? "it nests too deeply" : (cause as Error).message;
    if (ended) problems.add("not_json", `the line is no JSON: ${reason}`, number);
    else problems.add("torn_line", "the last line is not complete", number);
  }
  return undefined;
}

/** What nests deeper than our own input may is refused here, so that nothing later overflows. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const inner = Array.isArray(value) ? value : Object.values(value);
  // A loop, because every record of a file comes here.
  for (const each of inner) {
    if (typeof each === "object" && nestsDeeper(each, levels - 1)) return true;
  }
  return false;
}

/** The first line of a file's beginning as an object, if all of it is there. */
export function firstRecord(head: Uint8Array): Record<string, unknown> | undefined {
  const text = new TextDecoder("utf-8").decode(head).trimStart();
  const end = text.indexOf("\n");
  try {
    const value: unknown = JSON.parse(end < 0 ? text : text.slice(0, end));
    return isPlainObject(value) ? value : undefined;
  } catch {
    // Not of this form, or cut: then the caller looks at the text itself.
    return undefined;
  }
}
