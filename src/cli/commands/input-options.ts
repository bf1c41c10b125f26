/**
 * Options that fill fields of a described input: read by the kinds of its table. The words of
 * `--help` stay with each command, but for the filters of sessions, which several commands share.
 */

import { parseTime } from "../../api/text/times.ts";
import { normalizeRemote } from "../../ingest/machine-paths.ts";
import { defined } from "../../model/defined.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Kind, TypeOf } from "../../model/inputs/kinds.ts";
import {
  type FilteredCall,
  type FiltersOf,
  filterRow,
  filtersOf,
  type SessionFilterName,
} from "../../model/session-filters.ts";
import { flag, option, type ValueOption } from "../command.ts";
import { toChoice, toCount, toFuture, toNumber } from "../values.ts";

export const UNTIL: ValueOption = option(
  "TIME",
  "Up to then; a day, a month or a year counts whole.",
);

/** The option of each filter. */
export function filterOptions<Name extends SessionFilterName>(
  ...names: readonly Name[]
): Readonly<Record<Extract<Name, Lowercase<Name>>, ValueOption>> {
  const options = names.map((name) => {
    const { kind, value = "NAME", help = "" } = filterRow(name);
    return [flagOf(name), kind === "flag" ? flag(help) : option(value, help)] as const;
  });
  return Object.fromEntries(options) as never;
}

/** The filters of a call that have an option. */
export function withOption<Call extends FilteredCall>(call: Call): readonly FiltersOf<Call>[] {
  return filtersOf(call).flatMap(([name, { help }]) => (help === undefined ? [] : [name]));
}

/** The flags that are not their field's name with dashes. */
const FLAGS: Readonly<Record<string, string>> = {
  createdBy: "by",
  expectedLeaf: "expect-leaf",
  idempotencyKey: "key",
  sourceEntry: "source",
};

export function flagOf(name: string): string {
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return filterRow(name).flag ?? FLAGS[name] ?? dashed;
}

const asGiven = (text: string) => text;

/** By kind. Enumerations are read, too; other kinds are read by their commands. */
const READ: Readonly<Record<ReadKind, (text: string, option: string) => unknown>> = {
  text: asGiven,
  key: asGiven,
  name: asGiven,
  "text|texts": asGiven,
  "key|null": (text) => (text === "root" ? null : text),
  count: toCount,
  positive: toCount,
  "seconds|null": toCount,
  share: toNumber,
  time: toFuture,
};

type ReadKind =
  | ("text" | "key" | "name" | "text|texts" | "key|null" | "share" | "time")
  | ("count" | "positive" | "seconds|null");

type Calls = typeof INPUTS;

type Read<Table> = {
  readonly [Name in keyof Table as Table[Name] extends ReadKind | "flag" | readonly string[]
    ? Name
    : never]?: TypeOf<Table[Name]>;
};

/** The fields of a call's input that are among a command's options. */
export function toInput<Call extends keyof Calls>(
  call: Call,
  options: Readonly<Record<string, string | boolean | undefined>>,
): Read<Calls[Call]> {
  const fields = Object.entries<Kind>(INPUTS[call]).map(([name, kind]) => {
    const flag = flagOf(name);
    const value = options[flag];
    if (typeof value === "string") return [name, read(name, kind, value, `--${flag}`)];
    return [name, kind === "flag" ? value : undefined];
  });
  return defined(Object.fromEntries(fields)) as Read<Calls[Call]>;
}

function read(name: string, kind: Kind, text: string, option: string): unknown {
  if (name === "since" || name === "until") return parseTime(text, option, name);
  if (filterRow(name).kind === "time") return parseTime(text, option, "since");
  if (name === "repo") return normalizeRemote(text);
  if (Array.isArray(kind)) return toChoice(text, kind, option);
  return READ[kind as ReadKind]?.(text, option);
}
