/**
 * Reads, sets and removes one table in the text of a TOML file. Its lines are edited; `smol-toml` reads
 * the text before and after, and the two must differ by the table alone.
 */

import { isDeepStrictEqual } from "node:util";
import { parse, TomlError } from "smol-toml";
import { isPlainObject } from "../../model/json.ts";
import { ConfigError } from "./config-file.ts";

type Path = readonly string[];
type Fields = Readonly<Record<string, unknown>>;

/** The fields of the table at `path`, in any notation; undefined if missing. */
export function getToml(text: string, path: Path): Record<string, unknown> | undefined {
  const found = path.reduce<unknown>(
    (value, key) => (isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    read(text),
  );
  return isPlainObject(found) ? found : undefined;
}

/** Sets fields of the table, which is appended if missing. */
export function setToml(text: string, path: Path, fields: Fields): string {
  const before = getToml(text, path);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(fields).map(([key, value]) => `${keyText(key)} = ${format(value)}`);
  if (before === undefined) {
    const head = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
    const gap = text.trim() === "" ? "" : eol;
    const table = [`[${path.map(keyText).join(".")}]`, ...lines, ""].join(eol);
    return checked(text, `${head}${gap}${table}`, path, fields);
  }
  const statements = statementsOf(text);
  const own = statements.filter((each) => isDeepStrictEqual(each.path, path));
  for (const [at, key] of Object.keys(fields).entries()) {
    const line = lines[at] ?? "";
    const known = own.find((each) => !each.isHeader && key in each.value);
    if (known !== undefined) known.text = line + afterValue(known.text);
    else if (own[0] !== undefined) own[0].text = `${own[0].text.trimEnd()}${eol}${line}${eol}`;
  }
  const after = statements.map((each) => each.text).join("");
  return checked(text, after, path, { ...before, ...fields });
}

/** The text without the table, its subtables and the empty line before it. */
export function removeToml(text: string, path: Path): string {
  if (getToml(text, path) === undefined) return text;
  const statements = statementsOf(text);
  const isOurs = statements.map(({ path: at }, index) => {
    const last = statements.findLastIndex(
      (each) => each.path === at && (each.isHeader || !isDeepStrictEqual(each.value, {})),
    );
    return index <= last && path.every((key, depth) => at[depth] === key);
  });
  const kept = statements.filter((each, at) => {
    const isGap = each.text.trim() === "" && isOurs[at + 1] && statements[at + 1]?.isHeader;
    return !isOurs[at] && !isGap;
  });
  return checked(text, kept.map((each) => each.text).join(""), path, undefined);
}

function read(text: string): Record<string, unknown> {
  try {
    // The parser's objects have no prototype.
    return structuredClone(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const message = cause.message.split("\n", 1)[0]?.replace("Invalid TOML document: ", "") ?? "";
    const lines = text.split("\n").slice(0, cause.line - 1);
    throw new ConfigError(message, text, lines.join("\n").length + Math.min(1, lines.length));
  }
}

/** A header, a pair, a comment or an empty line, with its line break. */
interface Statement {
  text: string;
  /** Of its table: one array for all statements of a table. */
  readonly path: Path;
  readonly isHeader: boolean;
  readonly value: Record<string, unknown>;
}

/** A statement ends with the first line up to which it can be read. */
function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let path: Path = [];
  let pending = "";
  for (const line of text.split(/(?<=\n)/)) {
    pending += line;
    const value = readIf(pending);
    if (value === undefined) continue;
    const isHeader = pending.trimStart().startsWith("[");
    if (isHeader) path = headerPath(value);
    statements.push({ text: pending, path, isHeader, value });
    pending = "";
  }
  return statements;
}

function readIf(text: string): Record<string, unknown> | undefined {
  try {
    return read(text);
  } catch (cause) {
    if (cause instanceof ConfigError) return undefined;
    throw cause;
  }
}

function headerPath(value: unknown): string[] {
  if (!isPlainObject(value)) return ["[]"];
  const [key] = Object.keys(value);
  return key === undefined ? [] : [key, ...headerPath(value[key])];
}

/** What follows the value of a pair: blanks, a comment, the line break. */
function afterValue(pair: string): string {
  const ends = [...pair.matchAll(/#|$/g)].map(({ index }) => pair.slice(0, index).trimEnd().length);
  const end = ends.find((at) => readIf(pair.slice(0, at)) !== undefined);
  return pair.slice(end);
}

/** Refuses a notation of the table that cannot be edited by lines. */
function checked(before: string, after: string, path: Path, wanted: Fields | undefined): string {
  const isAlone = isDeepStrictEqual(without(read(before), path), without(read(after), path));
  if (isAlone && isDeepStrictEqual(getToml(after, path), wanted)) return after;
  const name = path.join(".");
  const message = `${name} is not a table of its own here; write it as [${name}], or edit it by hand`;
  throw new ConfigError(message, before, before.indexOf(path.at(-1) ?? ""));
}

function without(table: Fields, [key = "", ...rest]: Path): Fields {
  const { [key]: value, ...others } = table;
  const inner = isPlainObject(value) && rest.length > 0 ? without(value, rest) : {};
  return isDeepStrictEqual(inner, {}) ? others : { ...others, [key]: inner };
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** A JSON string is a TOML basic string, except for one character. */
function format(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007F");
  if (Array.isArray(value)) return `[${value.map(format).join(", ")}]`;
  if (!isPlainObject(value)) return String(value);
  const fields = Object.entries(value).map(([key, text]) => `${keyText(key)} = ${format(text)}`);
  return `{ ${fields.join(", ")} }`;
}
