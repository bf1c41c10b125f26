/**
 * Parses JSON with comments and trailing commas, with the position of every value, so that edits
 * change only their part of the text.
 */

import { ConfigError } from "./config-error.ts";

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** The value as `JSON.parse` would give it. */
  readonly value: unknown;
  /** The members of an object or the elements of an array, in their order. */
  readonly children?: readonly JsonChild[];
}

export interface JsonChild {
  /** Absent in arrays. */
  readonly key?: string;
  /** The start of the key, or of the element. */
  readonly start: number;
  readonly node: JsonNode;
}

const MAX_DEPTH = 200;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Throws a `ConfigError`. */
export function parseJsonc(text: string): JsonNode {
  const start = skipTrivia(text, 0);
  const node = parseValue(text, start, 0);
  const rest = skipTrivia(text, node.end);
  if (rest < text.length) throw new ConfigError("unexpected text after the end", text, rest);
  return node;
}

/** The first position from `at` on outside of white space and comments. */
export function skipTrivia(text: string, at: number): number {
  let i = at;
  for (;;) {
    while (i < text.length && /[\s\uFEFF]/.test(text[i] ?? "")) i++;
    const next = commentEnd(text, i);
    if (next === i) return i;
    i = next;
  }
}

/** The end of the comment at `at`; a line comment ends before its line break. */
export function commentEnd(text: string, at: number): number {
  if (text.startsWith("//", at)) {
    const end = text.slice(at).search(/[\r\n]/);
    return end < 0 ? text.length : at + end;
  }
  if (!text.startsWith("/*", at)) return at;
  const end = text.indexOf("*/", at + 2);
  if (end < 0) throw new ConfigError("a comment is not terminated", text, at);
  return end + 2;
}

function parseValue(text: string, at: number, depth: number): JsonNode {
  if (depth > MAX_DEPTH) throw new ConfigError("it is nested too deeply", text, at);
  const character = text[at];
  if (character === "{" || character === "[") return parseContainer(text, at, depth);
  if (character === '"') {
    const end = stringEnd(text, at);
    return { start: at, end, value: stringValue(text, at, end) };
  }
  for (const [word, value] of WORDS) {
    if (text.startsWith(word, at)) return { start: at, end: at + word.length, value };
  }
  NUMBER.lastIndex = at;
  const [number] = NUMBER.exec(text) ?? [];
  if (number !== undefined) return { start: at, end: at + number.length, value: Number(number) };
  const what = character === undefined ? "it ends too early" : `unexpected ${quoted(text, at)}`;
  throw new ConfigError(what, text, at);
}

function parseContainer(text: string, start: number, depth: number): JsonNode {
  const isObject = text[start] === "{";
  const close = isObject ? "}" : "]";
  const children: JsonChild[] = [];
  let at = skipTrivia(text, start + 1);
  while (text[at] !== close) {
    const child = isObject ? parseMember(text, at, depth) : parseElement(text, at, depth);
    children.push(child);
    at = skipTrivia(text, child.node.end);
    if (text[at] === ",") at = skipTrivia(text, at + 1);
    else if (text[at] !== close) {
      const found = at < text.length ? `, not ${quoted(text, at)}` : "";
      throw new ConfigError(`expected a comma or ${close}${found}`, text, at);
    }
  }
  return { start, end: at + 1, value: valueIn(isObject, children), children };
}

function parseMember(text: string, at: number, depth: number): JsonChild {
  if (text[at] !== '"') {
    const found = at < text.length ? `, not ${quoted(text, at)}` : "";
    throw new ConfigError(`expected a name in double quotes${found}`, text, at);
  }
  const end = stringEnd(text, at);
  const colon = skipTrivia(text, end);
  if (text[colon] !== ":") throw new ConfigError("expected a colon after the name", text, colon);
  const node = parseValue(text, skipTrivia(text, colon + 1), depth + 1);
  return { key: stringValue(text, at, end), start: at, node };
}

function parseElement(text: string, at: number, depth: number): JsonChild {
  return { start: at, node: parseValue(text, at, depth + 1) };
}

function valueIn(isObject: boolean, children: readonly JsonChild[]): unknown {
  if (!isObject) return children.map(({ node }) => node.value);
  // From entries, so that `__proto__` is an ordinary name.
  return Object.fromEntries(children.map(({ key = "", node }) => [key, node.value]));
}

function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const character = text[i];
    if (character === "\\") i++;
    else if (character === '"') return i + 1;
    else if (character === "\n") break;
  }
  throw new ConfigError("a string is not terminated", text, start);
}

function stringValue(text: string, start: number, end: number): string {
  try {
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    throw new ConfigError("a string is not valid JSON", text, start);
  }
}

function quoted(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}
