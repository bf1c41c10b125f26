/** The indexed text of an item: fields of its value, named by paths. */

import { isPlainObject } from "../../model/json.ts";
import { toRecordText } from "../common/record-text.ts";

/** The path of the whole value. */
export const WHOLE_VALUE = "$";

/** Cut to the limit of a record's text; null if there is none. */
export function textOfItem(value: unknown, paths: readonly string[]): string | null {
  const texts = paths.flatMap((path) => textsAt(value, path === WHOLE_VALUE ? [] : parse(path)));
  const text = texts.filter((part) => part !== "").join("\n");
  return toRecordText(text);
}

/** `a.b[0].c`, `a[*]`, `a[-1]`, `*`, `{a,b.c}`. */
function parse(path: string): string[] {
  return path.match(/\{[^{}]*\}|\[[^[\]]*\]|[^.[\]{}]+/g) ?? [];
}

function textsAt(value: unknown, steps: readonly string[]): string[] {
  const [step, ...rest] = steps;
  if (step === undefined) return leaves(value);
  if (step.startsWith("{")) {
    const names = step.slice(1, -1).split(",");
    return names.flatMap((name) => textsAt(value, [...parse(name.trim()), ...rest]));
  }
  return membersAt(value, step).flatMap((member) => textsAt(member, rest));
}

function membersAt(value: unknown, step: string): readonly unknown[] {
  const isIndex = step.startsWith("[");
  const name = isIndex ? step.slice(1, -1) : step;
  if (Array.isArray(value)) {
    if (name === "*") return value;
    const member: unknown = isIndex ? value.at(Number(name)) : undefined;
    return member === undefined ? [] : [member];
  }
  if (!isPlainObject(value) || isIndex) return [];
  if (name === "*") return Object.values(value);
  return Object.hasOwn(value, name) ? [value[name]] : [];
}

function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return isPlainObject(value) ? Object.values(value).flatMap(leaves) : [];
}
