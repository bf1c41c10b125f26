/** Allow and deny lists of tools, as glob patterns. */

import type { ToolResultBlock } from "../model/block.ts";
import type { ContextMessage } from "./message.ts";

/** Patterns of names: `*` matches anything, case is ignored. */
export interface ToolFilter {
  /** Empty or absent: all. */
  readonly allow?: readonly string[];
  /** Takes precedence over `allow`. */
  readonly deny?: readonly string[];
}

/** A predicate for names by `filter`. */
export function toolPicker(filter: ToolFilter = {}): (name: string) => boolean {
  const allow = (filter.allow ?? []).map(patternOf);
  const deny = (filter.deny ?? []).map(patternOf);
  return (name) => {
    if (deny.some((matches) => matches(name))) return false;
    return allow.length === 0 || allow.some((matches) => matches(name));
  };
}

/** A function from a result to its tool's name: its own field, else the last call of its id. */
export function toolNames(
  messages: readonly ContextMessage[],
): (result: ToolResultBlock) => string {
  const names = new Map<string, string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool_use") names.set(block.id, block.name);
  }
  return ({ toolName, toolUseId }) => toolName ?? names.get(toolUseId) ?? "";
}

/** Greedy glob matching: the pieces between the stars in order, linear for any pattern. */
function patternOf(glob: string): (name: string) => boolean {
  const [head = "", ...pieces] = glob.trim().toLowerCase().split(/\*+/);
  const tail = pieces.pop();
  return (given) => {
    const name = given.toLowerCase();
    if (tail === undefined) return name === head;
    if (name.length < head.length + tail.length) return false;
    if (!name.startsWith(head) || !name.endsWith(tail)) return false;
    const middle = name.slice(head.length, name.length - tail.length);
    let from = 0;
    for (const piece of pieces) {
      const at = middle.indexOf(piece, from);
      if (at < 0) return false;
      from = at + piece.length;
    }
    return true;
  };
}
