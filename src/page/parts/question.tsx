/** The confirmation dialog of actions that cannot be undone. */

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

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
