import { signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A button that copies a text to the clipboard and confirms it. */
export function Copy(props: {
  readonly label: string;
  readonly title?: string;
  readonly text: () => string | Promise<string>;
}) {
  const said = useSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await props.text());
      said.value = "Copied";
    } catch {
      said.value = "Could not copy";
    }
    setTimeout(() => {
      said.value = "";
    }, 1_500);
  };
  return (
    <button type="button" class="quiet" title={props.title} onClick={() => void copy()}>
      <span aria-live="polite">{said.value === "" ? props.label : said.value}</span>
    </button>
  );
}

/** The confirmation dialog of actions that cannot be undone. */
interface Question {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly answer: (said: boolean) => void;
}

const asked = signal<Question | undefined>(undefined);

/** Resolves to whether the action was confirmed. */
export function ask(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    asked.value = {
      title,
      text,
      yes,
      answer: (said) => {
        asked.value = undefined;
        resolve(said);
      },
    };
  });
}

export function QuestionDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const question = asked.value;
  // Before the next key press, which may be Escape.
  useLayoutEffect(() => {
    if (question !== undefined) dialog.current?.showModal();
  }, [question]);
  if (question === undefined) return null;
  return (
    <dialog
      ref={dialog}
      class="question"
      aria-labelledby="question-title"
      onClose={() => question.answer(false)}
    >
      <h2 id="question-title">{question.title}</h2>
      <p>{question.text}</p>
      <div class="buttons">
        <button type="button" onClick={() => question.answer(false)}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => question.answer(true)}>
          {question.yes}
        </button>
      </div>
    </dialog>
  );
}

/** The keyboard shortcuts and their list. */
interface Shortcut {
  /** Alternatives, separated by a comma. */
  readonly keys: string;
  readonly does: string;
}

const SHORTCUTS: readonly Shortcut[] = [
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
