/**
 * One turn for what one side says in a row.
 *
 * Several providers refuse two turns of the same role behind each other, and a context has many: a
 * summary and the question behind it are both the user's.
 */

import type { Turn } from "./turn.ts";

/** Joins neighbours of the same role. Every block is kept, in order, as a block of its own. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    const joined = last === undefined ? null : join(last, turn);
    if (joined === null) merged.push(turn);
    else merged[merged.length - 1] = joined;
  }
  return merged;
}

/** Both as one turn; null if they are not of the same role. */
function join(a: Turn, b: Turn): Turn | null {
  if (a.role === "user" && b.role === "user") {
    return { role: "user", blocks: [...a.blocks, ...b.blocks] };
  }
  if (a.role === "assistant" && b.role === "assistant") {
    return {
      role: "assistant",
      blocks: [...a.blocks, ...b.blocks],
      aborted: a.aborted || b.aborted,
    };
  }
  if (a.role === "tool" && b.role === "tool") {
    return { role: "tool", results: [...a.results, ...b.results] };
  }
  return null;
}
