/**
 * Groups messages joined by tool calls (union-find): a pin holds the whole group.
 *
 * Messages between a call and its result, such as a user's, are not part of the group.
 */

import type { ToolTraffic } from "../../transcript/tool-pairs.ts";

/**
 * The group of each message, named by the index of its first one. Pairs match as in `legalCuts`: a
 * result belongs to the nearest earlier call of its id, a call to its first result.
 */
export function toolGroups(messages: readonly ToolTraffic[]): Int32Array {
  const parent = Int32Array.from(messages, (_, i) => i);
  const root = (start: number): number => {
    let i = start;
    while (parent[i] !== i) {
      // Path halving keeps later finds short.
      parent[i] = parent[parent[i] as number] as number;
      i = parent[i] as number;
    }
    return i;
  };
  const callers = new Map<string, number>();
  messages.forEach(({ calls, results }, i) => {
    for (const id of results) {
      const caller = callers.get(id);
      if (caller === undefined) continue;
      const [a, b] = [root(caller), root(i)];
      parent[Math.max(a, b)] = Math.min(a, b);
      callers.delete(id);
    }
    for (const id of calls) callers.set(id, i);
  });
  return parent.map((_, i) => root(i));
}
