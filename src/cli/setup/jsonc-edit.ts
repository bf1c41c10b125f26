/** Edits values in the text of a JSON file by `jsonc-parser`, preserving comments and layout. */

import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  format,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isPlainObject } from "../../model/json.ts";
import { ConfigError } from "./config-file.ts";

/** Names of members; a number is the index of an element. */
type JsonPath = readonly (string | number)[];

/** Undefined if missing. The last of members with the same name counts. Throws a `ConfigError`. */
export function getJson(text: string, path: JsonPath): unknown {
  if (isBlank(text)) return undefined;
  rootOf(text);
  return path.reduce<unknown>(
    (value, step) => {
      const isInside = isPlainObject(value) || Array.isArray(value);
      return isInside && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
    },
    parse(text, [], OPTIONS),
  );
}

/** Sets a value, creating missing objects. Throws a `ConfigError`. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
  if (isBlank(text)) {
    const nested = path.reduceRight((inner, key) => ({ [key]: inner }), value);
    return `${JSON.stringify(nested, null, 2)}\n`;
  }
  const root = rootOf(text);
  const parents = path.map((_, depth) => findNodeAtLocation(root, path.slice(0, depth)));
  const wrong = parents.findIndex((node) => node !== undefined && node.type !== "object");
  if (wrong >= 0) throw notA("an object", path.slice(0, wrong), text, parents[wrong]);
  const after = edit(text, path, value, parents.findLast((node) => node !== undefined) ?? root);
  if (isDeepStrictEqual(getJson(after, path), value)) return after;
  throw new ConfigError(`${path.join(".")} is there twice`, text, root.offset);
}

/** Adds an element to the list at `path`, which is created if missing. */
export function addJson(text: string, path: readonly string[], value: unknown): string {
  if (getJson(text, path) === undefined) return setJson(text, path, [value]);
  const list = findNodeAtLocation(rootOf(text), [...path]);
  if (list?.type !== "array") throw notA("a list", path, text, list);
  return edit(text, [...path, -1], value, list);
}

/** The text without a value and its comma. `modify` would take comments beside it along. */
export function removeJson(text: string, path: JsonPath): string {
  const value = findNodeAtLocation(rootOf(text), [...path]);
  const child = value?.parent?.type === "property" ? value.parent : value;
  const parent = child?.parent;
  if (child === undefined || parent === undefined) return text;
  const before = parent.children?.[parent.children.indexOf(child) - 1];
  // Including its line break, so that no empty line stays.
  const start = text.slice(0, child.offset).replace(/(?:\r?\n|(?<!\s))[^\S\n]*$/, "").length;
  const comma = commaAfter(text, child);
  if (comma !== undefined) {
    const isFirstOnLine = start === parent.offset + 1;
    // On one line, the space after the comma goes too.
    const rest = text.slice(comma + 1).replace(isFirstOnLine ? /^[^\S\n]*/ : "", "");
    return text.slice(0, start) + rest;
  }
  const between = before === undefined ? parent.offset + 1 : (commaAfter(text, before) ?? start);
  const kept = text.slice(before === undefined ? between : between + 1, start);
  const rest = text.slice(child.offset + child.length);
  // An object without members or comments is closed on its line.
  const isEmpty = before === undefined && kept.trim() === "" && /^\s*[}\]]/.test(rest);
  return text.slice(0, between) + (isEmpty ? rest.trimStart() : kept + rest);
}

const OPTIONS = { allowTrailingComma: true };

function rootOf(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, " "), errors, OPTIONS);
  const [first] = errors;
  if (root !== undefined && first === undefined) return root;
  const words = first === undefined ? "ValueExpected" : printParseErrorCode(first.error);
  const message = words.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
  throw new ConfigError(message, text, first?.offset ?? 0);
}

/** Formats only what is written, and only where the members of the container are on lines. */
function edit(text: string, path: JsonPath, value: unknown, container: Node): string {
  const [change = { offset: 0, length: 0, content: "" }] = modify(text, [...path], value, {});
  const [first] = container.children ?? [];
  const isOnLines =
    first === undefined || text.slice(container.offset, first.offset).includes("\n");
  if (!isOnLines) return applyEdits(text, [change]);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  // A comment behind the last member stays with it.
  const [, comma = "", comment = ""] =
    /^(,?)([ \t]*\/\/[^\r\n]*)/.exec(text.slice(change.offset)) ?? [];
  const isBehind = comment !== "" && change.length === 0;
  const written = isBehind ? `,${comment}${eol}${change.content.slice(1)}${comma}` : change.content;
  const length = isBehind ? comma.length + comment.length : change.length;
  const after = applyEdits(text, [{ ...change, length, content: written }]);
  // With the brackets of an empty container, which move to other lines.
  const edge = first === undefined ? 1 : 0;
  const range = { offset: change.offset - edge, length: written.length + 2 * edge };
  const indent = /\n([ \t]+)["{}[\]]/.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  return applyEdits(after, format(after, range, { tabSize: indent.length, insertSpaces, eol }));
}

function commaAfter(text: string, { offset, length }: Node): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset + length);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

function notA(what: string, path: JsonPath, text: string, node: Node | undefined): ConfigError {
  const name = path.join(".") || "the top-level value";
  return new ConfigError(`${name} is not ${what}`, text, node?.offset ?? 0);
}

function isBlank(text: string): boolean {
  return text.replace(/^\uFEFF/, "").trim() === "";
}
