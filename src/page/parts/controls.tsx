/** Parts that several views share. */

import { type Signal, signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { tell } from "../data/connection.ts";

/** The message of a failure; nothing without one. With `alert`, it is read out when it appears. */
export function Failure(props: { readonly text: string; readonly alert?: boolean }) {
  if (props.text === "") return null;
  return (
    <p class="failure" role={props.alert ? "alert" : undefined}>
      {props.text}
    </p>
  );
}

/** Puts the result of a request, unless a newer one took its place, or the message of its failure. */
export function put<Result>(
  request: Promise<Result | undefined>,
  into: Signal<Result | undefined>,
  failure: Signal<string>,
): void {
  request.then(
    (result) => {
      if (result !== undefined) into.value = result;
    },
    (error: unknown) => {
      failure.value = tell(error);
    },
  );
}

/** Sets a signal, as the handler of an event. */
export function setTo<Value>(into: Signal<Value>, value: NoInfer<Value>): () => void {
  return () => {
    into.value = value;
  };
}

/** A button that shows one part of a view, `what`, and hides it again. */
export function Toggle<Name extends string>(props: {
  readonly shows: Signal<Name | "">;
  readonly what: NoInfer<Name>;
  readonly class: string;
  readonly children: ComponentChildren;
}) {
  const { shows, what } = props;
  const isShown = shows.value === what;
  return (
    <button
      type="button"
      class={props.class}
      aria-expanded={isShown}
      onClick={setTo(shows, isShown ? "" : what)}
    >
      {props.children}
    </button>
  );
}

/** A figure of a list of tiles. */
export function Tile(props: {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        {props.value} {props.note !== undefined && <small>{props.note}</small>}
      </dd>
    </div>
  );
}

/** A table with a head; `children` are its rows. */
export function Table(props: {
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    <table>
      <thead>
        <tr>
          {props.heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  );
}

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

/** The confirmation dialog of actions that cannot be undone. */
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
  { keys: "n, p", does: "Next and previous prompt" },
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

/** Moves the focus to the next or previous item of the pane with the focus, else of the reader. */
export function focusNext(step: 1 | -1): void {
  const pane =
    document.activeElement?.closest(".find, .read") ?? document.querySelector(".read, .find, main");
  const items = [...(pane?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const top = pane?.querySelector(".scroller")?.getBoundingClientRect().top ?? 0;
  const inView = items.findIndex((item) => item.getBoundingClientRect().bottom > top);
  const next = at === -1 ? (step === 1 ? Math.max(0, inView) : items.length - 1) : at + step;
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
      onClose={setTo(showsShortcuts, false)}
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
