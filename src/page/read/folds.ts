/** The open folds by name: they survive virtual rows. */

import { signal } from "@preact/signals";

const opened = signal<ReadonlySet<string>>(new Set());

export function isOpen(name: string): boolean {
  return opened.value.has(name);
}

export function toggle(name: string): void {
  const next = new Set(opened.peek());
  if (!next.delete(name)) next.add(name);
  opened.value = next;
}
