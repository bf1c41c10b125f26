/** Counts the lines that an edit adds and removes: those of a shortest line diff. */

import { isPlainObject } from "../model/json.ts";

export interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** Pairs of lines that are still compared; after them, all changed lines of an edit count. */
export interface ComparedPairs {
  left: number;
}

/** Some milliseconds. */
const MAX_PAIRS = 1_000_000;

/** Of the arguments of an edit, in the forms of several agents. `pairs` is shared by several. */
export function countChanges(
  input: string,
  pairs: ComparedPairs = { left: MAX_PAIRS },
): LineCounts {
  const value = parse(input);
  if (!isPlainObject(value)) return ofPatch(input);
  const { edits, patch, input: text, content, file_text: file } = value;
  if (Array.isArray(edits)) return edits.map((each) => ofEdit(each, pairs)).reduce(sum, NONE);
  if (EDIT_FIELDS.some(([before]) => typeof value[before] === "string"))
    return ofEdit(value, pairs);
  for (const each of [patch, text]) if (typeof each === "string") return ofPatch(each);
  for (const each of [content, file]) {
    if (typeof each === "string") return { added: linesOf(each).length, removed: 0 };
  }
  return ofPatch(input);
}

const NONE: LineCounts = { added: 0, removed: 0 };
const EDIT_FIELDS = [
  ["old_string", "new_string"],
  ["oldString", "newString"],
  ["old_str", "new_str"],
] as const;

function sum(one: LineCounts, other: LineCounts): LineCounts {
  return { added: one.added + other.added, removed: one.removed + other.removed };
}

function ofEdit(edit: unknown, pairs: ComparedPairs): LineCounts {
  if (!isPlainObject(edit)) return NONE;
  for (const [before, after] of EDIT_FIELDS) {
    const [from, to] = [edit[before], edit[after]];
    if (typeof from === "string") return compare(from, typeof to === "string" ? to : "", pairs);
  }
  return NONE;
}

function ofPatch(patch: string): LineCounts {
  const lines = patch.split(/\\n|\n/);
  const count = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return { added: count("+"), removed: count("-") };
}

function compare(before: string, after: string, pairs: ComparedPairs): LineCounts {
  let [from, to] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  [from, to] = [from.slice(start), to.slice(start)];
  while (from.length > 0 && to.length > 0 && from.at(-1) === to.at(-1)) {
    from.pop();
    to.pop();
  }
  const needed = from.length * to.length;
  const isTooMuch = needed > Math.min(pairs.left, MAX_PAIRS);
  if (!isTooMuch) pairs.left -= needed;
  const kept = isTooMuch ? 0 : commonLines(from, to);
  return { added: to.length - kept, removed: from.length - kept };
}

/** The length of the longest common subsequence. */
function commonLines(from: readonly string[], to: readonly string[]): number {
  const numbers = new Map<string, number>();
  const numbered = (line: string) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const others = Uint32Array.from(to, numbered);
  let row = new Uint32Array(to.length + 1);
  let next = new Uint32Array(to.length + 1);
  for (const line of Uint32Array.from(from, numbered)) {
    for (let at = 0; at < others.length; at++) {
      const kept = row[at] as number;
      const best = Math.max(row[at + 1] as number, next[at] as number);
      next[at + 1] = line === others[at] ? kept + 1 : best;
    }
    [row, next] = [next, row];
  }
  return row.at(-1) ?? 0;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function parse(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}
