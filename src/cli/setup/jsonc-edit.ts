/** Edits values in the text of a JSON file, preserving comments and layout. */

import { isPlainObject } from "../../model/json.ts";
import { ConfigError } from "./config-error.ts";
import {
  commentEnd,
  type JsonChild,
  type JsonNode,
  parseJsonc,
  skipTrivia,
} from "./jsonc-parse.ts";

/** Names of members; a number is the index of an element. */
export type JsonPath = readonly (string | number)[];

/** Undefined if missing. Throws a `ConfigError`. */
export function getJson(text: string, path: JsonPath): unknown {
  if (isBlank(text)) return undefined;
  let node: JsonNode | undefined = parseJsonc(text);
  for (const step of path) node = node === undefined ? undefined : childOf(node, step)?.node;
  return node?.value;
}

/** Sets a value, creating missing objects. Throws a `ConfigError`. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
  if (isBlank(text)) return `${JSON.stringify(nested(path, value), null, 2)}\n`;
  let node = parseJsonc(text);
  for (const [depth, key] of path.entries()) {
    if (!isPlainObject(node.value)) throw notA("an object", path.slice(0, depth), text, node);
    const child = childOf(node, key);
    if (child === undefined) {
      return insert(text, node, { key, value: nested(path.slice(depth + 1), value) });
    }
    node = child.node;
  }
  const written = format(value, lineIndent(text, node.start), text);
  return text.slice(0, node.start) + written + text.slice(node.end);
}

/** Adds an element to the list at `path`, which is created if missing. */
export function addJson(text: string, path: readonly string[], value: unknown): string {
  if (getJson(text, path) === undefined) return setJson(text, path, [value]);
  const list = nodeAt(text, path);
  if (!Array.isArray(list.value)) throw notA("a list", path, text, list);
  return insert(text, list, { value });
}

/** The text without a value and its comma. */
export function removeJson(text: string, path: JsonPath): string {
  const parent = nodeAt(text, path.slice(0, -1));
  const { children = [] } = parent;
  const child = childOf(parent, path.at(-1) ?? "");
  if (child === undefined) return text;
  const index = children.indexOf(child);
  const before = children[index - 1];
  // Including its line break, so that no empty line stays.
  const start = text.slice(0, child.start).replace(/(?:\r?\n|(?<!\s))[^\S\n]*$/, "").length;
  const comma = skipTrivia(text, child.node.end);
  if (text[comma] === ",") {
    const end = comma + 1;
    const isFirst = before === undefined;
    // On one line, the space after the comma goes too.
    const space =
      isFirst && start === parent.start + 1 ? /^[^\S\n]*/.exec(text.slice(end))?.[0] : "";
    return text.slice(0, start) + text.slice(end + (space ?? "").length);
  }
  if (before === undefined) {
    const rest = text.slice(parent.start + 1, start) + text.slice(child.node.end, parent.end - 1);
    const inner = rest.trim() === "" ? "" : rest;
    return text.slice(0, parent.start + 1) + inner + text.slice(parent.end - 1);
  }
  const itsComma = skipTrivia(text, before.node.end);
  return text.slice(0, itsComma) + text.slice(itsComma + 1, start) + text.slice(child.node.end);
}

function nodeAt(text: string, path: JsonPath): JsonNode {
  let node = parseJsonc(text);
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) throw new ConfigError(`${path.join(".")} is gone`, text, node.start);
    node = child.node;
  }
  return node;
}

/** The last of members with the same name, as for `JSON.parse`. */
function childOf({ children = [] }: JsonNode, step: string | number): JsonChild | undefined {
  if (typeof step === "number") return children[step];
  return children.findLast(({ key }) => key === step);
}

function notA(what: string, path: JsonPath, text: string, node: JsonNode): ConfigError {
  return new ConfigError(
    `${path.join(".") || "the top-level value"} is not ${what}`,
    text,
    node.start,
  );
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** Appends to its container, in the layout of the previous element. */
function insert(
  text: string,
  container: JsonNode,
  item: { readonly key?: string; readonly value: unknown },
): string {
  const last = container.children?.at(-1);
  const name = item.key === undefined ? "" : `${JSON.stringify(item.key)}: `;
  if (last === undefined) {
    const outer = lineIndent(text, container.start);
    const indent = outer + unitOf(text);
    const close = container.end - 1;
    const inner = text.slice(container.start + 1, close).trimEnd();
    const line = `${lineBreakOf(text)}${indent}${name}${format(item.value, indent, text)}`;
    const head = text.slice(0, container.start + 1) + inner;
    return `${head}${line}${lineBreakOf(text)}${outer}${text.slice(close)}`;
  }
  const isOnLines = text.slice(container.start, last.start).includes("\n");
  const comma = skipTrivia(text, last.node.end);
  const hasComma = text[comma] === ",";
  if (!isOnLines) {
    const at = hasComma ? comma + 1 : last.node.end;
    const written = `${name}${JSON.stringify(item.value)}`;
    return `${text.slice(0, at)}${hasComma ? "" : ","} ${written}${hasComma ? "," : ""}${text.slice(at)}`;
  }
  const indent = lineIndent(text, last.start);
  const line = `${lineBreakOf(text)}${indent}${name}${format(item.value, indent, text)}`;
  const lineEnd = endOfLine(text, hasComma ? comma + 1 : last.node.end);
  if (hasComma) return `${text.slice(0, lineEnd)}${line},${text.slice(lineEnd)}`;
  const { end } = last.node;
  return `${text.slice(0, end)},${text.slice(end, lineEnd)}${line}${text.slice(lineEnd)}`;
}

/** After comments on the same line; `at` itself if anything else follows. */
function endOfLine(text: string, at: number): number {
  let i = at;
  for (;;) {
    while (/[^\S\r\n]/.test(text[i] ?? "")) i++;
    const next = commentEnd(text, i);
    if (next === i) break;
    i = next;
  }
  const isEnd = /[\r\n]/.test(text[i] ?? "\n");
  return isEnd ? text.slice(0, i).trimEnd().length : at;
}

function format(value: unknown, indent: string, text: string): string {
  const json = JSON.stringify(value, null, unitOf(text));
  return json.replaceAll("\n", `${lineBreakOf(text)}${indent}`);
}

/** The indentation of the line of `at`; without a byte order mark, which `\\s` matches. */
function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[^\S\r\n\uFEFF]*/.exec(text.slice(start, at))?.[0] ?? "";
}

/** The indentation of one level, as in the first indented line. */
function unitOf(text: string): string {
  return /\n([ \t]+)["{}[\]]/.exec(text)?.[1] ?? "  ";
}

function lineBreakOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function isBlank(text: string): boolean {
  return text.replace(/^\uFEFF/, "").trim() === "";
}
