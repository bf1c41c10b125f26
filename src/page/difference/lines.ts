/** The line diff of an edit. */

import { diffLines } from "diff";

export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/** In characters. A longer edit is shown as all old lines, then all new ones: comparing takes too long. */
const MAX_COMPARED = 60_000;
/** Unchanged lines kept on each side of a change. */
const CONTEXT = 3;

export function diffOf(before: string, after: string): readonly DiffLine[] {
  if (before.length + after.length > MAX_COMPARED) {
    return [...lines(before, "-"), ...lines(after, "+")];
  }
  const all = diffLines(before, after).flatMap(({ value, added, removed }) =>
    lines(value, added ? "+" : removed ? "-" : " "),
  );
  return all.filter((_, at) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
}

function lines(text: string, sign: DiffLine["sign"]): readonly DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, text: line }));
}
