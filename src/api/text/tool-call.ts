/**
 * A tool call on one line: its name and main argument; and its JSON as plain text, with escapes
 * decoded, quotes and brackets dropped, white space collapsed.
 *
 * The text is made by a lexer with two states, inside or outside of a string. It accepts any part
 * of a JSON text, since a snippet starts and ends anywhere; in JSON each unescaped quote delimits a
 * string.
 */

import { MAIN_ARGUMENTS } from "../../model/display.ts";

/** `Edit({"file_path": …})` as `Edit src/cart.ts`; undefined if it is not a call. */
export function toolCallLine(snippet: string): string | undefined {
  const [, name, input] = /^([\w.:-]{1,80})\((\{[\s\S]*)$/.exec(snippet.trim()) ?? [];
  if (name === undefined || input === undefined) return undefined;
  const told = telling(input.replace(/\)[^)}]*$/, ""));
  return `${name} ${told ?? readableJson(input).text}`;
}

/** A call's name, before its input. */
const CALL = /^([\w.:-]{1,80})\((?=\{)/;

/** An escape, or the end of one field and the name of the next. */
const JSON_MARK = /\\[nrtu"\\]|"\s*,\s*"[\w-]+"\s*:/;

/** Whether a text of a message with calls is a call; or the rest of one, if its beginning was cut off. */
export function isCallPart(text: string, isCut: boolean): boolean {
  return CALL.test(text) || (isCut && JSON_MARK.test(text));
}

/** `Edit({"path":"a.ts"})` as `Edit path: a.ts`; also the rest of a call, without its name. */
export function readableCall(text: string): ReadableText {
  const [head = "", name = ""] = CALL.exec(text) ?? [];
  const label = name === "" ? "" : `${name} `;
  const { text: plain, offsetOf } = readableJson(text.slice(head.length));
  return {
    text: label + plain,
    offsetOf: (offset) =>
      offset < head.length
        ? Math.min(offset, name.length)
        : label.length + offsetOf(offset - head.length),
  };
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

interface ReadableText {
  readonly text: string;
  /** The offset in `text` of an offset in the JSON. */
  readonly offsetOf: (offset: number) => number;
}

/** `{"path":"a.ts","text":"one\\ntwo"}` as `path: a.ts, text: one two`. */
export function readableJson(json: string): ReadableText {
  const offsets = new Uint32Array(json.length + 1);
  let text = "";
  let isString = startsInString(json);
  // Kept beside `text`: reading its end would copy all of it.
  let endsWithSpace = true;
  for (let at = 0; at < json.length; ) {
    const taken = isString ? takeInString(json, at) : takeOutside(json[at] as string);
    offsets.fill(text.length, at, at + taken.length);
    if (taken.isQuote) isString = !isString;
    const isRepeated: boolean = endsWithSpace && /^\s/.test(taken.text);
    const added: string = isRepeated ? taken.text.trimStart() : taken.text.replace(/\s/g, " ");
    if (added !== "") endsWithSpace = added.endsWith(" ");
    text += added;
    at += taken.length;
  }
  offsets[json.length] = text.length;
  const offsetOf = (offset: number) => offsets[Math.min(offset, json.length)] as number;
  // A cut may halve a surrogate pair.
  return { text: text.toWellFormed(), offsetOf };
}

interface Taken {
  readonly text: string;
  /** UTF-16 units of the JSON. */
  readonly length: number;
  readonly isQuote?: true;
}

/** A quote that a delimiter or the end follows closes a string that began before the text. */
function startsInString(json: string): boolean {
  const quote = /(?<!\\)(?:\\\\)*"/.exec(json);
  if (quote === null) return !/^\s*[{[]/.test(json);
  return /^\s*(?:[:,}\])]|$)/.test(json.slice(quote.index + quote[0].length));
}

/** The second alternative is an escape that the end cuts off. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|u[0-9a-fA-F]{0,3}$|(.?))/suy;

function takeInString(json: string, at: number): Taken {
  const unit = json[at] as string;
  if (unit === '"') return { text: "", length: 1, isQuote: true };
  if (unit !== "\\") return { text: unit, length: 1 };
  ESCAPE.lastIndex = at;
  const [whole = unit, code, character = ""] = ESCAPE.exec(json) ?? [];
  if (code !== undefined) {
    return { text: String.fromCharCode(Number.parseInt(code, 16)), length: whole.length };
  }
  return { text: /[nrtbf]/.test(character) ? " " : character, length: whole.length };
}

function takeOutside(unit: string): Taken {
  if (unit === '"') return { text: "", length: 1, isQuote: true };
  if (unit === ":" || unit === ",") return { text: `${unit} `, length: 1 };
  return { text: /[{}[\]()\s]/.test(unit) ? "" : unit, length: 1 };
}
