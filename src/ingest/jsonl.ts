/** JSON lines: the format of most agents. */

import { isPlainObject, type JsonObject } from "../model/json.ts";
import { MAX_JSON_DEPTH, MAX_RECORD_VALUES } from "../model/limits.ts";
import { parseExact } from "../transcript/exact-json.ts";
import { type Batched, mapBatches } from "./batches.ts";
import type { Fields } from "./fields.ts";
import { hasMoreValues, scanObject } from "./json-scan.ts";
import type { Line } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

export interface JsonRecord {
  readonly line: number;
  /** Length of the line's text, in characters. */
  readonly length: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Rules for lines of a format that need not be parsed. */
export interface LineRules {
  /**
   * A substitute record if the line's beginning shows that the rest is not needed. Called before
   * parsing, so that redundant lines cost little. A line that is not a single object is parsed all
   * the same: it may contain another.
   */
  readonly skim?: (text: string) => JsonRecord["record"] | undefined;
  /** A field that can be long and is kept in part. */
  readonly digest?: FieldDigest;
}

export interface FieldDigest {
  readonly name: string;
  /** A value with a shorter text is parsed whole. */
  readonly maxLength: number;
  /** Shortens a longer one. May throw, as a parser does. */
  readonly of: (text: string) => unknown;
}

/** Yields the objects. Other values are counted and skipped; empty lines are ignored. */
export async function* readRecords(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
  rules: LineRules = {},
): AsyncGenerator<JsonRecord> {
  yield* readRecordBatches(lines, problems, rules);
}

/** The same in batches, for readers of long files. */
export function readRecordBatches(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
  { skim, digest }: LineRules = {},
): Batched<JsonRecord> {
  return mapBatches(lines, function* (batch) {
    for (const line of batch) {
      const skimmed = skim?.(line.text);
      const isEnough = skimmed !== undefined && isOneObject(line.text);
      if (isEnough) countDamage(line, problems);
      const record = isEnough ? skimmed : parseLine(line, problems, digest);
      if (record !== undefined) yield { line: line.number, length: line.text.length, record };
    }
  });
}

function isOneObject(text: string): boolean {
  const end = scanObject(text)?.end;
  return end !== undefined && (end === text.length || text.slice(end).trim() === "");
}

function countDamage({ damage, number }: Line, problems: ProblemLog): void {
  if (damage !== "not_utf8") return;
  problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
}

function parseLine(
  line: Line,
  problems: ProblemLog,
  digest: FieldDigest | undefined,
): Record<string, unknown> | undefined {
  const { number, text, damage, ended, moreValuesThan } = line;
  if (damage === "too_long") {
    problems.add("line_too_long", "the line is too long, and was left out", number);
    return undefined;
  }
  if (text.length < 2 && text.trim() === "") return undefined;
  try {
    const { value, depth, isTooMuch } =
      moreValuesThan === undefined ? parseText(text, digest) : TOO_MUCH;
    countDamage(line, problems);
    if (isTooMuch) {
      const limit = moreValuesThan ?? MAX_RECORD_VALUES;
      const what = `the line holds more than ${limit} values, and was left out`;
      problems.add("unexpected", what, number);
    } else if (!isPlainObject(value)) {
      problems.add("unexpected", "the line is JSON, but not an object", number);
    } else if (depth > MAX_JSON_DEPTH) {
      problems.add("unexpected", `the line nests deeper than ${MAX_JSON_DEPTH} levels`, number);
    } else return value;
  } catch (cause) {
    if (text.trim() === "") return undefined;
    const reason = cause instanceof RangeError ? "it nests too deeply" : (cause as Error).message;
    if (ended) problems.add("not_json", `the line is not JSON: ${reason}`, number);
    else problems.add("torn_line", "the last line is incomplete", number);
  }
  return undefined;
}

interface Parsed {
  readonly value: unknown;
  /** Levels of objects and lists, as far as they are counted. */
  readonly depth: number;
  /** Too many values: not parsed. */
  readonly isTooMuch?: true;
}

const TOO_MUCH: Parsed = { value: undefined, depth: 0, isTooMuch: true };

function parseText(text: string, digest: FieldDigest | undefined): Parsed {
  const scanned = scanObject(text, digest?.name);
  // Not an object: the parser reports it.
  if (scanned === undefined) {
    if (hasMoreValues(text, MAX_RECORD_VALUES)) return TOO_MUCH;
    return { value: parseExact(text), depth: 1 };
  }
  const { depth, hasLongNumbers, value: span } = scanned;
  const parse = hasLongNumbers ? parseExact : (JSON.parse as (json: string) => unknown);
  if (digest === undefined || span === undefined || span.end - span.start <= digest.maxLength) {
    return hasMoreValues(text, MAX_RECORD_VALUES) ? TOO_MUCH : { value: parse(text), depth };
  }
  const frame = `${text.slice(0, span.start)}null${text.slice(span.end)}`;
  if (hasMoreValues(frame, MAX_RECORD_VALUES)) return TOO_MUCH;
  const rest = parse(frame);
  (rest as Record<string, unknown>)[digest.name] = digest.of(text.slice(span.start, span.end));
  return { value: rest, depth };
}

/** Refuses nesting above our input limit, so that no later recursion overflows. */
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

// Resumable reading of a file of lines: the state as of the last complete line.
//
// A last line without a line break is read, because many files end so. A later reading would read
// it twice, so then there is no resume state and the file is read as a whole.

/** A session's header, which a resumed reading does not meet again. */
export class KnownSession {
  /** Empty until the reader has set it. */
  fields: Fields;
  readonly lines: ResumedLines;

  /** `records` reads all other lines. */
  constructor(resume: JsonObject | undefined, records: { state(): JsonObject | undefined }) {
    const kept = resume?.["session"];
    this.fields = isPlainObject(kept) ? kept : {};
    this.lines = new ResumedLines(() => {
      const state = records.state();
      return state === undefined
        ? undefined
        : { session: this.fields as JsonObject, records: state };
    });
  }

  get isNew(): boolean {
    return Object.keys(this.fields).length === 0;
  }
}

export class ResumedLines {
  #isOpen = false;
  readonly #snapshot: () => JsonObject | undefined;

  /** `snapshot` gives the reader's own state after the last line, if it can be resumed. */
  constructor(snapshot: () => JsonObject | undefined) {
    this.#snapshot = snapshot;
  }

  /** Passes the lines on. */
  read(lines: AsyncIterable<Line>): Batched<Line> {
    const note = (line: Line) => {
      if (!line.ended) this.#isOpen = true;
      return line;
    };
    return mapBatches(lines, function* (batch) {
      for (const line of batch) yield note(line);
    });
  }

  /** Valid after the last line. */
  state(): JsonObject | undefined {
    return this.#isOpen ? undefined : this.#snapshot();
  }
}
