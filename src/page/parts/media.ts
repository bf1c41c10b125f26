/** Whether the window has room for two panes, and for the map of a session beside them. */

import { type Signal, signal } from "@preact/signals";

export const hasTwoPanes: Signal<boolean> = matches("(min-width: 1100px)");
export const hasMap: Signal<boolean> = matches("(min-width: 1400px)");

function matches(query: string): Signal<boolean> {
  // Modules are also loaded by tests without a window.
  const list = globalThis.matchMedia?.(query);
  const is = signal(list?.matches ?? false);
  list?.addEventListener("change", (event) => {
    is.value = event.matches;
  });
  return is;
}
