/** Which tools something applies to: patterns that allow, and patterns that deny. */

import type { ToolResultBlock } from "../model/block.ts";
import type { ContextMessage } from "./message.ts";

/** Patterns of names, in which `*` stands for anything and case does not count. */
export interface ToolFilter {
  /** Empty or absent: all. */
  readonly allow?: readonly string[];
  /** Wins over `allow`. */
  readonly deny?: readonly string[];
}

/** Tells of a name whether `filter` lets it through. */
export function toolPicker(filter: ToolFilter = {}): (name: string) => boolean {
  const allow = (filter.allow ?? []).map(patternOf);
  const deny = (filter.deny ?? []).map(patternOf);
  return (name) => {
    if (deny.some((pattern) => pattern.test(name))) return false;
    return allow.length === 0 || allow.some((pattern) => pattern.test(name));
  };
}

/** Tells of a result which tool gave it: by its own word, else by the last call of its id. */
export function toolNames(
  messages: readonly ContextMessage[],
): (result: ToolResultBlock) => string {
  const names = new Map<string, string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool_use") names.set(block.id, block.name);
  }
  return ({ toolName, toolUseId }) => toolName ?? names.get(toolUseId) ?? "";
}

function patternOf(glob: string): RegExp {
  const pieces = glob.trim().split(/\*+/);
  const literal = pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "is");
}
