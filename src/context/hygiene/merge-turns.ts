/**
 * Merges neighbouring turns of one role.
 *
 * Several providers refuse two turns of the same role in a row, and a context often has them: a
 * summary and the question after it are both the user's.
 */

import type { Turn } from "./turn.ts";

/** Joins neighbours of the same role. Every block is kept, in order. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const runs: Turn[][] = [];
  for (const turn of turns) {
    const run = runs.at(-1);
    if (run?.[0]?.role === turn.role) run.push(turn);
    else runs.push([turn]);
  }
  return runs.flatMap((run) => (run.length === 1 ? run : [join(run)]));
}

/** Joins turns of one role. */
function join(run: readonly Turn[]): Turn {
  const users = run.filter((turn) => turn.role === "user");
  if (users.length > 0) return { role: "user", blocks: users.flatMap(({ blocks }) => blocks) };
  const tools = run.filter((turn) => turn.role === "tool");
  if (tools.length > 0) return { role: "tool", results: tools.flatMap(({ results }) => results) };
  const assistants = run.filter((turn) => turn.role === "assistant");
  return {
    role: "assistant",
    blocks: assistants.flatMap(({ blocks }) => blocks),
    aborted: assistants.some(({ aborted }) => aborted),
  };
}
