/** Finds a text in the open session: every message that has it, in their order. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { tell } from "../data/connection.ts";
import { NOTHING_SOUGHT, type SessionModel } from "./session-model.ts";

/** The pause in typing before the session is read, in milliseconds. */
const PAUSE_MS = 150;

export function FindInSession(props: {
  readonly model: SessionModel;
  readonly onIndex: (index: number) => void;
  /** The first message in view: the search begins there. */
  readonly from: () => number;
}) {
  const { model, onIndex, from } = props;
  const box = useRef<HTMLInputElement>(null);
  const at = useSignal(-1);
  const isReading = useSignal(false);
  const failure = useSignal("");
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = () => {
    clearTimeout(typing.current);
    model.sought.value = NOTHING_SOUGHT;
    failure.value = "";
    at.value = -1;
  };
  useEffect(() => stop, []);
  const { text, matches } = model.sought.value;
  const found = [...matches];
  const step = (to: number) => {
    if (found.length === 0) return;
    at.value = (to + found.length) % found.length;
    onIndex(found[at.value] ?? 0);
  };
  const read = async (sought: string) => {
    isReading.value = true;
    const start = from();
    const isCurrent = () => model.sought.peek().text === sought;
    try {
      for (let offset = 0, total = 1; offset < total; ) {
        const part = await model.outline.part({ offset, find: sought });
        if (!isCurrent()) return;
        const all = new Set([...model.sought.peek().matches, ...part.matches]);
        model.sought.value = { text: sought, matches: all };
        const first = at.peek() === -1 ? [...all].findIndex((index) => index >= start) : -1;
        if (first !== -1) {
          at.value = first;
          onIndex([...all][first] ?? 0);
        }
        if (part.end === offset) break;
        ({ end: offset, total } = part);
      }
      const [first] = model.sought.peek().matches;
      if (at.peek() === -1 && first !== undefined) {
        at.value = 0;
        onIndex(first);
      }
    } catch (error) {
      if (isCurrent()) failure.value = tell(error);
    } finally {
      if (isCurrent()) isReading.value = false;
    }
  };
  const look = (typed: string) => {
    stop();
    const sought = typed.trim();
    if (sought === "") return;
    model.sought.value = { text: sought, matches: new Set() };
    typing.current = setTimeout(() => void read(sought), PAUSE_MS);
    isReading.value = true;
  };
  return (
    <search class="find-in">
      <input
        ref={box}
        id="find-in"
        type="search"
        placeholder="Find in session (f)"
        aria-label="Find in session"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => look(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.preventDefault();
            event.stopPropagation();
            event.currentTarget.value = "";
            stop();
            document.querySelector<HTMLElement>(".scroller")?.focus({ preventScroll: true });
          }
          if (event.key !== "Enter") return;
          event.preventDefault();
          step(at.value + (event.shiftKey ? -1 : 1));
        }}
      />
      {text !== "" && (
        <>
          <span class="about" aria-live="polite">
            {found.length === 0
              ? isReading.value
                ? "…"
                : "not found"
              : `${at.value + 1} of ${found.length}${isReading.value ? "+" : ""}`}
          </span>
          <button
            type="button"
            class="quiet"
            aria-label="Previous match"
            onClick={() => step(at.value - 1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="quiet"
            aria-label="Next match"
            onClick={() => step(at.value + 1)}
          >
            ↓
          </button>
        </>
      )}
      {failure.value !== "" && <span class="failure">{failure.value}</span>}
    </search>
  );
}
