/** The line diff of an edit. */

import { diffLines } from "diff";

export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
  /** Its number, of the old text if removed, else of the new one. Absent: it is no line of either. */
  readonly number?: number;
}

/** In characters. A longer edit is shown as all old lines, then all new ones: comparing takes too long. */
const MAX_COMPARED = 60_000;
/** Unchanged lines kept on each side of a change. */
const CONTEXT = 3;

export function diffOf(before: string, after: string): readonly DiffLine[] {
  if (before.length + after.length > MAX_COMPARED) {
    return [...lines(before, "-", 1), ...lines(after, "+", 1)];
  }
  let [old, now] = [1, 1];
  const all = diffLines(ended(before), ended(after)).flatMap(({ value, added, removed }) => {
    const part = added
      ? lines(value, "+", now)
      : removed
        ? lines(value, "-", old)
        : lines(value, " ", now);
    if (!added) old += part.length;
    if (!removed) now += part.length;
    return part;
  });
  return all.filter((_, at) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
}

/** The lines of a patch, numbered by its headers. */
export function patchLines(patch: string): readonly DiffLine[] {
  let numbers: { old: number; now: number } | undefined;
  return patch.split("\n").map((line): DiffLine => {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) ?? [];
    if (from !== undefined) numbers = { old: Number(from), now: Number(to) };
    const isHeader = from !== undefined || /^(\*\*\*|---|\+\+\+|@@|diff |index )/.test(line);
    const sign = !isHeader && (line[0] === "+" || line[0] === "-") ? line[0] : " ";
    const text = isHeader ? line : line.slice(1);
    if (isHeader || numbers === undefined) return { sign, text };
    const number = sign === "-" ? numbers.old : numbers.now;
    if (sign !== "+") numbers.old++;
    if (sign !== "-") numbers.now++;
    return { sign, text, number };
  });
}

/** Compared by lines, a last one without its line break would differ from the same with it. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function lines(text: string, sign: DiffLine["sign"], first: number): readonly DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, at) => ({ sign, text: line, number: first + at }));
}
