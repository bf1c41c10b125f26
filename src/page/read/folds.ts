/** The open folds by name. Kept outside of the rows, which are removed when they leave the view. */

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
