/**
 * Completes pairs of tool calls and results.
 *
 * Providers refuse a request with an incomplete pair, and keep refusing it, because the history
 * stays. Sessions that were interrupted, cut, merged or written by two processes have such pairs.
 * Results match the nearest earlier call by id, as in `transcript/tool-pairs.ts`.
 */

import { type AssistantTurn, callsOf, type SentCall, type SentResult, type Turn } from "./turn.ts";

/**
 * Puts results directly after their assistant turn, in the order of its calls, and calls last in
 * their turn. A call without a result gets an error result, unless its turn was aborted: then the
 * call is dropped. Second results and results without a call are dropped. No turn is left empty.
 */
export function repairPairs(turns: readonly Turn[]): Turn[] {
  const answers = matchResults(turns);
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === "user") return [turn];
    if (turn.role === "tool") return [];
    const calls = callsOf(turn).filter((call) => answers.has(call) || !turn.aborted);
    const results = calls.map((call) => resultOf(call, answers.get(call)));
    const said = turn.blocks.filter((block) => block.type !== "tool_use");
    const blocks: AssistantTurn["blocks"] = [...said, ...calls];
    return [
      ...(blocks.length > 0 ? [{ ...turn, blocks }] : []),
      ...(results.length > 0 ? [{ role: "tool" as const, results }] : []),
    ];
  });
}

/** Maps calls to results. Calls are compared as objects, because ids may repeat. */
function matchResults(turns: readonly Turn[]): Map<SentCall, SentResult> {
  const answers = new Map<SentCall, SentResult>();
  const waiting = new Map<string, SentCall[]>();
  for (const turn of turns) {
    if (turn.role === "assistant") {
      // A later use of an id takes over; within one turn, results match the calls in order.
      for (const [id, calls] of Map.groupBy(callsOf(turn), (call) => call.id)) {
        waiting.set(id, calls);
      }
    } else if (turn.role === "tool") {
      for (const result of turn.results) {
        const call = waiting.get(result.toolUseId)?.shift();
        if (call !== undefined) answers.set(call, result);
      }
    }
  }
  return answers;
}

function resultOf(call: SentCall, result: SentResult | undefined): SentResult {
  if (result !== undefined) return { ...result, toolName: call.name };
  return {
    type: "tool_result",
    toolUseId: call.id,
    toolName: call.name,
    output: [{ type: "text", text: MISSING_RESULT }],
    isError: true,
  };
}

/** The placeholder of a missing result. */
export const MISSING_RESULT =
  "The result of this tool call is missing: it was interrupted or lost.";
