/**
 * Reads, sets and removes one entry, by its `name`, in a list at the top level of a YAML file.
 *
 * Its lines are edited. Entries in another notation than fields under each other are recognised by
 * their name and replaced as a whole; lists and files in another notation are refused.
 */

import { ConfigError } from "./config-file.ts";

/** The list's name, and the entry's. */
type Path = readonly string[];
type Fields = Readonly<Record<string, unknown>>;

/** The entry's fields but its name; undefined if missing. */
export function getYaml(text: string, path: Path): Record<string, unknown> | undefined {
  const found = listOf(text, path).entries.find((entry) => entry.name === path[1]);
  return found && Object.fromEntries(found.fields.map(({ key, value }) => [key, value]));
}

/** Sets fields of the entry, which is appended if missing; its other fields stay. */
export function setYaml(text: string, path: Path, fields: Fields): string {
  const { lines, head, end, indent, entries } = listOf(text, path);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const found = entries.find((entry) => entry.name === path[1]);
  const others = found?.fields.filter(({ key }) => !(key in fields)) ?? [];
  const written = [
    `${indent}- name: ${path[1]}${eol}`,
    // JSON is YAML.
    ...Object.entries(fields).map(
      ([key, value]) => `${indent}  ${key}: ${JSON.stringify(value)}${eol}`,
    ),
    ...others.flatMap((field) => field.lines),
  ];
  if (found !== undefined) lines.splice(found.start, found.end - found.start, ...written);
  else if (head === undefined) lines.splice(end, 0, `${path[0]}:${eol}`, ...written);
  else lines.splice(end, 0, ...written);
  // Only a line that others follow lacks its break: the file's last.
  return lines
    .map((line, at) => (at < lines.length - 1 && !line.endsWith("\n") ? line + eol : line))
    .join("");
}

/** Without the entry, and without the list if that has no other. */
export function removeYaml(text: string, path: Path): string {
  const { lines, head = 0, entries } = listOf(text, path);
  const found = entries.find((entry) => entry.name === path[1]);
  if (found === undefined) return text;
  lines.splice(found.start, found.end - found.start);
  if (entries.length === 1) lines.splice(head, 1);
  return lines.join("");
}

interface Entry {
  readonly name: unknown;
  readonly fields: readonly Field[];
  /** Its lines, without blank lines and comments behind them. */
  readonly start: number;
  readonly end: number;
}

interface Field {
  readonly key: string;
  readonly value: unknown;
  readonly lines: readonly string[];
}

interface List {
  /** With their breaks. */
  readonly lines: string[];
  /** The line of its name; undefined if missing. */
  readonly head: number | undefined;
  /** Where an entry is appended. */
  readonly end: number;
  /** Of its entries. */
  readonly indent: string;
  readonly entries: readonly Entry[];
}

function listOf(text: string, [key = ""]: Path): List {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== "");
  const fail = (message: string, line: number) =>
    new ConfigError(message, text, lines.slice(0, line).join("").length);
  const first = lines.findIndex((line) => isContent(line) && !/^(---|%)/.test(line));
  if (/^([[{]|- )/.test(lines[first] ?? "")) throw fail("the file is not a list of fields", first);
  const second = lines.findIndex((line, at) => at > first && /^(---|\.\.\.)\s/.test(`${line} `));
  if (first >= 0 && second >= 0) throw fail("the file has more than one document", second);
  const heads = lines.flatMap((line, at) =>
    new RegExp(`^(["']?)${key}\\1\\s*:(\\s|$)`).test(line) ? [at] : [],
  );
  const [head] = heads;
  if (head === undefined) {
    return { lines, head, end: lines.length, indent: "  ", entries: [] };
  }
  if (heads[1] !== undefined) throw fail(`${key} is there twice`, heads[1]);
  const line = lines[head] ?? "";
  const value = line
    .slice(line.indexOf(":") + 1)
    .replace(/(^|\s)#.*/s, "")
    .trim();
  if (!["", "[]", "null", "~"].includes(value)) {
    throw fail(`${key} is not a list with its entries under each other`, head);
  }
  if (value !== "") lines[head] = line.replace(/:\s*(\[\]|null|~)/, ":");
  const next = lines.findIndex((each, at) => at > head && isContent(each) && /^[^\s-]/.test(each));
  const end = withoutTail(lines, head + 1, next < 0 ? lines.length : next);
  const own = lines.slice(head + 1, end).find(isContent);
  const indent = own === undefined ? "  " : (/^( *)-(\s|$)/.exec(own)?.[1] ?? "");
  if (own !== undefined && !own.startsWith(`${indent}-`)) {
    throw fail(`${key} is not a list with its entries under each other`, head);
  }
  const starts = lines.flatMap((each, at) =>
    at > head && at < end && each.startsWith(indent) && /^-(\s|$)/.test(each.slice(indent.length))
      ? [at]
      : [],
  );
  const entries = starts.map((start, at) => {
    const behind = withoutTail(lines, start, starts[at + 1] ?? end);
    return { start, end: behind, ...readEntry(lines.slice(start, behind)) };
  });
  return { lines, head, end, indent, entries };
}

function isContent(line: string): boolean {
  return !/^\s*(#|$)/.test(line);
}

/** The end of the content before `end`. */
function withoutTail(lines: readonly string[], start: number, end: number): number {
  const content = lines.slice(start, end).findLastIndex(isContent);
  return start + content + 1;
}

function readEntry(lines: readonly string[]): Pick<Entry, "name" | "fields"> {
  const [first = "", ...others] = lines;
  const inside = [first.replace("-", " "), ...others];
  const start = inside.find(isContent) ?? "";
  if (start.trim().startsWith("{")) return { name: nameInBraces(start), fields: [] };
  const depth = start.search(/\S/);
  const fields: { key: string; lines: string[] }[] = [];
  for (const line of inside) {
    const [, key] = /^["']?([\w-]+)["']?\s*:(\s|$)/.exec(line.slice(depth)) ?? [];
    if (key !== undefined && line.search(/\S/) === depth) fields.push({ key, lines: [line] });
    else fields.at(-1)?.lines.push(line);
  }
  const read = fields.map((field) => ({ ...field, value: readValue(field.lines) }));
  return {
    name: read.find(({ key }) => key === "name")?.value,
    fields: read.filter(({ key }) => key !== "name"),
  };
}

function nameInBraces(line: string): unknown {
  const fields = line.replace(/[{}]/g, "").split(",");
  const own = fields.find((field) => /^\s*["']?name["']?\s*:/.test(field));
  return own === undefined ? undefined : scalar(own.slice(own.indexOf(":") + 1));
}

/** A value on the field's line, else a list or fields below it. */
function readValue([first = "", ...below]: readonly string[]): unknown {
  const value = first.slice(first.indexOf(":") + 1).trim();
  if (value !== "" && !value.startsWith("#")) return scalar(value);
  const lines = below.filter(isContent).map((line) => line.trim());
  if (lines.every((line) => line.startsWith("- ")))
    return lines.map((line) => scalar(line.slice(2)));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")),
      scalar(line.slice(line.indexOf(":") + 1)),
    ]),
  );
}

function scalar(text: string): unknown {
  const plain = text.trim();
  if (plain.startsWith("'")) {
    return plain.slice(1, plain.lastIndexOf("'")).replaceAll("''", "'");
  }
  const json = /^("(?:[^"\\]|\\.)*"|[[{].*[\]}])/.exec(plain)?.[1];
  try {
    if (json !== undefined) return JSON.parse(json);
  } catch {
    // A flow collection with plain words in it stays text.
  }
  return plain.split(" #", 1)[0]?.trimEnd();
}
