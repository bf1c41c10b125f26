/** A session's tree: a run of entries stays flush, each further branch is set in. */

import type { Entry } from "../model/entry.ts";
import { type EntryStyle, formatTreeLine } from "./print-entry.ts";
import type { Terminal } from "./terminal.ts";

export function formatTree(
  entries: readonly Entry[],
  terminal: Terminal,
  style: EntryStyle,
): string[] {
  const known = new Set(entries.map((entry) => entry.id));
  const children = new Map<string | null, Entry[]>();
  for (const entry of entries) {
    // On a later page the parent is on an earlier one: then the entry starts a run of its own.
    const parent = known.has(entry.parentId ?? "") ? entry.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const lines: string[] = [];
  // A stack of its own: a conversation can be longer than the call stack is deep.
  const todo = (children.get(null) ?? []).map((entry) => ({ entry, level: 0 })).reverse();
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { entry, level } = next;
    lines.push(`${"  ".repeat(level)}${formatTreeLine(entry, terminal, style)}`);
    const [first, ...rest] = children.get(entry.id) ?? [];
    // The first child goes on in line and is printed last, after the branches beside it.
    if (first !== undefined) todo.push({ entry: first, level });
    for (const branch of rest.reverse()) todo.push({ entry: branch, level: level + 1 });
  }
  return lines;
}
