/** Prints a session's tree: a run of entries is flush, each further branch is indented. */

import type { Entry } from "../model/entry.ts";
import { type EntryStyle, formatTreeLines } from "./print-entry.ts";
import type { Terminal } from "./terminal.ts";

export function formatTree(
  entries: readonly Entry[],
  terminal: Terminal,
  style: EntryStyle,
): string[] {
  const known = new Set(entries.map((entry) => entry.id));
  const children = new Map<string | null, Entry[]>();
  for (const entry of entries) {
    // On a later page the parent may be on an earlier one: then the entry starts a new run.
    const parent = known.has(entry.parentId ?? "") ? entry.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const lines: string[] = [];
  // An explicit stack: a conversation can be deeper than the call stack.
  const todo = (children.get(null) ?? []).map((entry) => ({ entry, level: 0 })).reverse();
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { entry, level } = next;
    const indent = "  ".repeat(level);
    const room = terminal.columns - indent.length;
    lines.push(...formatTreeLines(entry, terminal, style, room).map((line) => indent + line));
    const [first, ...rest] = children.get(entry.id) ?? [];
    // The first child continues in line and is printed last, after the branches beside it.
    if (first !== undefined) todo.push({ entry: first, level });
    for (const branch of rest.reverse()) todo.push({ entry: branch, level: level + 1 });
  }
  return lines;
}
