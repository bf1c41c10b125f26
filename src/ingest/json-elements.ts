/**
 * The elements of a JSON array, one at a time, from a file of any size.
 *
 * Exports of chats are one array of hundreds of megabytes, often in a single line. Each
 * element is parsed alone.
 */

import { isPlainObject } from "../model/json.ts";
import { MAX_ELEMENT_BYTES } from "./document/json-document.ts";
import { ListScanner } from "./document/list-scanner.ts";
import { parseJson } from "./json-file.ts";
import type { ProblemLog } from "./problems.ts";
import type { SourceInput } from "./source.ts";

/**
 * Gives the objects. A damaged one is reported; `begins` matches an object's start, to
 * resynchronise after it. A file of one object is its only element.
 */
export async function* readElements(
  input: SourceInput,
  begins: RegExp,
  problems: ProblemLog,
): AsyncGenerator<Record<string, unknown>> {
  for await (const text of splitElements(textOf(input, problems), problems)) {
    // A separate list and call: the text must not be referenced while a value is processed.
    const values = parseElement(text, begins, problems);
    while (values.length > 0) yield values.shift() as Record<string, unknown>;
  }
}

function parseElement(
  text: string,
  begins: RegExp,
  problems: ProblemLog,
): Record<string, unknown>[] {
  const value = parseJson(text);
  if (isPlainObject(value)) return [value];
  if (value === undefined) return [...recover(text, begins, problems)];
  problems.add("unexpected", "an element is JSON, but not an object");
  return [];
}

const NO_ELEMENT =
  "an element is not JSON, nests too deeply or holds too many values; was the file cut off?";

/** The whole elements of a damaged piece. */
function* recover(
  text: string,
  begins: RegExp,
  problems: ProblemLog,
): Generator<Record<string, unknown>> {
  problems.add("not_json", NO_ELEMENT);
  const starts = [...text.matchAll(new RegExp(begins, "g"))].map(({ index }) => index);
  for (const [i, start] of starts.entries()) {
    const end = text.slice(start, starts[i + 1]).replace(/(?<![\s,\]])[\s,\]]+$/, "");
    const value = end.length === text.length ? undefined : parseJson(end);
    if (isPlainObject(value)) yield value;
  }
}

/** Such a file may be one line above the line limit, so the bytes are used if available. */
async function* textOf(input: SourceInput, problems: ProblemLog): AsyncGenerator<string> {
  if (input.bytes !== undefined) {
    yield* decode(input.bytes, problems);
    return;
  }
  for await (const { text, damage, number } of input.lines) {
    if (damage === "too_long") {
      problems.add("line_too_long", "the line is too long and was left out", number);
    }
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    yield `${text}\n`;
  }
}

const REPLACEMENT = "\uFFFD";

async function* decode(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  problems: ProblemLog,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let isTold = false;
  /** A file may contain the replacement character itself. */
  const tell = (text: string, chunk: Uint8Array) => {
    if (isTold || !text.includes(REPLACEMENT) || Buffer.from(chunk).includes(REPLACEMENT)) return;
    isTold = true;
    problems.add("not_utf8", "some bytes are not UTF-8 and were replaced");
  };
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    tell(text, chunk);
    yield text;
  }
  const rest = decoder.decode();
  tell(rest, new Uint8Array());
  yield rest;
}

/** The text of each element, bounded to an element's limit in characters. */
export async function* splitElements(
  chunks: AsyncIterable<string>,
  problems: ProblemLog,
  maxLength: number = MAX_ELEMENT_BYTES,
): AsyncGenerator<string> {
  // One array may follow another.
  const scanner = new ListScanner();
  let parts: string[] = [];
  let length = 0;
  const keep = (part: string) => {
    length += part.length;
    if (length <= maxLength) parts.push(part);
    else parts = [];
  };
  const take = (): string => {
    // With the byte order mark.
    const text = parts.join("").trim();
    if (length > maxLength) {
      const size = `${Math.floor(maxLength / 1024 / 1024)} MiB`;
      problems.add("line_too_long", `an element is longer than ${size} and was left out`);
    }
    parts = [];
    length = 0;
    return text;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (const { at } of scanner.marks(chunk)) {
      keep(chunk.slice(start, at));
      start = at + 1;
      const text = take();
      if (text !== "") yield text;
    }
    keep(chunk.slice(start));
  }
  const rest = take();
  if (rest !== "") yield rest;
}
