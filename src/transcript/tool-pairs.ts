/**
 * Pairs of tool calls and results.
 *
 * A provider refuses a call without its results and a result without its call, so a list of
 * messages may only be cut where no call is open. Pairs match by id: parallel calls, several
 * results in one message and calls without a result all occur, and some agents reuse ids.
 */

import type { Block } from "../model/block.ts";

/** The ids of the calls and of the results in one message, in order. */
export interface ToolTraffic {
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

const NO_TRAFFIC: ToolTraffic = { calls: [], results: [] };

export function toolTraffic(blocks: readonly Block[]): ToolTraffic {
  if (!blocks.some((block) => block.type === "tool_use" || block.type === "tool_result")) {
    return NO_TRAFFIC;
  }
  return {
    calls: blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
    results: blocks.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])),
  };
}

/**
 * For each place from 0 to `messages.length`: whether the list may be cut before that message. A
 * result belongs to the nearest earlier call of its id, a call to its first result: unmatched ones
 * do not restrict cuts.
 */
export function legalCuts(messages: readonly ToolTraffic[]): boolean[] {
  const legal = new Array<boolean>(messages.length + 1).fill(true);
  const callers = new Map<string, number>();
  /** The end of the pairs that began so far: every cut before it is illegal. */
  const reach = new Int32Array(messages.length);
  messages.forEach(({ calls, results }, i) => {
    for (const id of results) {
      const caller = callers.get(id);
      if (caller !== undefined) reach[caller] = Math.max(reach[caller] ?? 0, i);
      callers.delete(id);
    }
    for (const id of calls) callers.set(id, i);
  });
  let covered = 0;
  for (let i = 0; i < messages.length; i++) {
    if (i > 0 && i <= covered) legal[i] = false;
    covered = Math.max(covered, reach[i] ?? 0);
  }
  return legal;
}

/** The calls without a later result, by the index of their message. */
export function unansweredCalls(messages: readonly ToolTraffic[]): Map<number, string[]> {
  const waiting = new Map<string, number>();
  messages.forEach(({ calls, results }, i) => {
    for (const id of results) waiting.delete(id);
    for (const id of calls) waiting.set(id, i);
  });
  const open = new Map<number, string[]>();
  for (const [id, i] of waiting) open.set(i, [...(open.get(i) ?? []), id]);
  return open;
}
