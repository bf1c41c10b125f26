/** The keyboard shortcuts and their list. */

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Shortcut {
  /** Alternatives, separated by a comma. */
  readonly keys: string;
  readonly does: string;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: "⌘K, Ctrl+K, /", does: "Search every conversation" },
  { keys: "j, k", does: "Next and previous: result, session or message" },
  { keys: "o, Enter", does: "Open it; in a session, unfold it" },
  { keys: "f", does: "Find in the session" },
  { keys: "Home, End", does: "First and last message" },
  { keys: "c", does: "Copy a link to the message" },
  { keys: "u", does: "Back to the search" },
  { keys: "g u, g m, g s", does: "Usage, memory, store" },
  { keys: "t", does: "Dark, light, or as the system says" },
  { keys: "?", does: "This list" },
];

export const showsShortcuts = signal(false);

export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Moves the focus to the next or previous item of the view. */
export function focusNext(step: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>("[data-item]")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (step === 1 ? 0 : items.length - 1) : at + step;
  items[Math.max(0, Math.min(items.length - 1, next))]?.focus();
}

export function ShortcutList() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = showsShortcuts.value;
  // Before the next key press, which may be Escape.
  useLayoutEffect(() => {
    if (isShown) dialog.current?.showModal();
  }, [isShown]);
  if (!isShown) return null;
  return (
    <dialog
      ref={dialog}
      class="shortcuts"
      aria-label="Keyboard"
      onClose={() => {
        showsShortcuts.value = false;
      }}
    >
      <h2>Keyboard</h2>
      <dl>
        {SHORTCUTS.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(", ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
