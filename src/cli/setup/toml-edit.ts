/** Reads, sets and removes one table in the text of a TOML file. */

import { isPlainObject } from "../../model/json.ts";
import { ConfigError } from "./config-error.ts";
import { parseToml, type TomlKey, type TomlTable, type TomlValue } from "./toml-parse.ts";

type Plain = string | boolean | readonly string[] | Readonly<Record<string, string>>;

/** The fields of the table at `path`, in any notation; undefined if missing. */
export function getToml(
  text: string,
  path: readonly string[],
): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {};
  let isThere = false;
  const add = (at: readonly string[], value: unknown) => {
    if (!startsWith(at, path)) return;
    isThere = true;
    put(fields, at.slice(path.length), value);
  };
  for (const table of parseToml(text)) {
    if (startsWith(table.path, path)) isThere = true;
    for (const key of table.keys) flatten([...table.path, ...key.path], key.value, add);
  }
  return isThere ? fields : undefined;
}

/** Sets fields of the table, which is appended if missing. */
export function setToml(
  text: string,
  path: readonly string[],
  fields: Readonly<Record<string, Plain>>,
): string {
  const tables = parseToml(text);
  const table = findTable(text, tables, path);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  if (table === undefined) {
    const lines = Object.entries(fields).map(([key, value]) => `${key} = ${format(value)}`);
    const head = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
    const gap = text.trim() === "" ? "" : eol;
    return [`${head}${gap}[${path.map(keyText).join(".")}]`, ...lines, ""].join(eol);
  }
  let edited = text;
  // From last to first, so that earlier positions stay valid.
  const known = table.keys.toSorted((a, b) => b.start - a.start);
  for (const { path: key, valueStart, end } of known) {
    const value = key.length === 1 ? fields[key[0] ?? ""] : undefined;
    if (value === undefined) continue;
    edited = edited.slice(0, valueStart) + format(value) + edited.slice(end);
  }
  const names = new Set(known.map(({ path: [first = ""] }) => first));
  const missing = Object.entries(fields).filter(([key]) => !names.has(key));
  const lines = missing.map(([key, value]) => `${eol}${key} = ${format(value)}`).join("");
  return edited.slice(0, table.headerEnd) + lines + edited.slice(table.headerEnd);
}

/** The text without the table, its subtables and the empty line before it. */
export function removeToml(text: string, path: readonly string[]): string {
  const tables = parseToml(text);
  if (findTable(text, tables, path) === undefined) return text;
  let edited = text;
  for (const table of tables.filter((each) => startsWith(each.path, path)).reverse()) {
    const last = table.keys.at(-1)?.end ?? table.headerEnd;
    const lineEnd = text.indexOf("\n", last);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    const lineStart = text.lastIndexOf("\n", table.start - 1) + 1;
    const start = text.slice(0, lineStart).replace(/(?<=\n)\r?\n$/, "").length;
    edited = edited.slice(0, start) + edited.slice(end);
  }
  return edited;
}

/** Undefined if missing. Throws if its notation cannot be edited. */
function findTable(
  text: string,
  tables: readonly TomlTable[],
  path: readonly string[],
): TomlTable | undefined {
  const table = tables.find((each) => each.path.join("\0") === path.join("\0") && !each.isArray);
  if (table !== undefined) return table;
  const other = tables.flatMap(({ path: base, keys }) =>
    keys.filter((key) => isInTheWay([...base, ...key.path], key, path)),
  )[0];
  if (other === undefined) return undefined;
  throw new ConfigError(
    `${path.join(".")} is not a table of its own here; write it as [${path.join(".")}], or edit it by hand`,
    text,
    other.start,
  );
}

/** A dotted key below the table, or an inline table that would contain it. */
function isInTheWay(at: readonly string[], key: TomlKey, path: readonly string[]): boolean {
  if (startsWith(at, path)) return true;
  return startsWith(path, at) && typeof key.value === "object" && "pairs" in key.value;
}

function flatten(
  at: readonly string[],
  value: TomlValue,
  add: (at: readonly string[], value: unknown) => void,
): void {
  if (typeof value !== "object") add(at, value);
  else if (isList(value)) add(at, value.map(plain));
  else if ("raw" in value) add(at, value.raw);
  else {
    for (const entry of value.pairs) flatten([...at, ...entry.path], entry.value, add);
  }
}

function isList(value: TomlValue): value is readonly TomlValue[] {
  return Array.isArray(value);
}

function plain(value: TomlValue): unknown {
  if (typeof value !== "object") return value;
  return "raw" in value ? value.raw : value;
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = target[key] ?? {};
  target[key] = inner;
  if (isPlainObject(inner)) put(inner as Record<string, unknown>, rest, value);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((step, i) => path[i] === step);
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** A JSON string is a TOML basic string, except for one character. */
function format(value: Plain): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007F");
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(format).join(", ")}]`;
  const fields = Object.entries(value).map(([key, text]) => `${keyText(key)} = ${format(text)}`);
  return `{ ${fields.join(", ")} }`;
}
