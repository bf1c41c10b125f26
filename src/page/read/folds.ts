/** Which folds are open, by name. Kept outside of the rows, which are removed when they leave the view. */

import { signal } from "@preact/signals";

const chosen = signal<ReadonlyMap<string, boolean>>(new Map());

/** What the reader chose; undefined before. */
export function chosenState(name: string): boolean | undefined {
  return chosen.value.get(name);
}

export function choose(name: string, isOpen: boolean): void {
  chosen.value = new Map([...chosen.peek(), [name, isOpen]]);
}
