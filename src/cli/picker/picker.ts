/**
 * The picker as a state and its screen: type and see, Enter reads, `r` resumes. Pure: the
 * command `pick` reads keys and the store.
 */

import { clip } from "../text.ts";

/** A session to choose: a bold line and a dim one, and the message to begin reading at. */
export interface Choice {
  readonly sessionId: string;
  readonly head: string;
  readonly line: string;
  readonly entryId: string | null;
}

export interface Picker {
  readonly query: string;
  /** Undefined while the first ones are read. */
  readonly choices: readonly Choice[] | undefined;
  readonly selected: number;
  /** The lines of the session that is read, and the first one shown. */
  readonly reading?: { readonly lines: readonly string[]; readonly from: number };
  /** A word on what just happened. */
  readonly note?: string;
}

export const EMPTY: Picker = { query: "", choices: undefined, selected: 0 };

/** A key as `readline` names it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  /** The typed characters. */
  readonly text?: string | undefined;
}

export type Wish = "none" | "search" | "read" | "resume" | "leave";

interface Step {
  readonly next: Picker;
  readonly wish: Wish;
}

/** What a key does on a screen of `rows` lines. */
export function press(picker: Picker, key: Key, rows: number): Step {
  const { note: _, ...state } = picker;
  if (key.ctrl && (key.name === "c" || key.name === "d")) return { next: state, wish: "leave" };
  return state.reading === undefined ? choose(state, key, rows) : read(state, key, rows);
}

function choose(state: Picker, { name, ctrl, meta, text = "" }: Key, rows: number): Step {
  const { query, choices = [], selected } = state;
  const move = (by: number): Step => {
    const last = Math.max(0, choices.length - 1);
    return {
      next: { ...state, selected: Math.min(last, Math.max(0, selected + by)) },
      wish: "none",
    };
  };
  const ask = (next: string): Step => ({
    next: { ...state, query: next, selected: 0 },
    wish: "search",
  });
  switch (ctrl ? `^${name}` : name) {
    case "down":
    case "^n":
      return move(1);
    case "up":
    case "^p":
      return move(-1);
    case "pagedown":
      return move(shownChoices(rows));
    case "pageup":
      return move(-shownChoices(rows));
    case "return":
    case "enter":
      return { next: state, wish: choices.length === 0 ? "none" : "read" };
    case "^r":
      return { next: state, wish: choices.length === 0 ? "none" : "resume" };
    case "escape":
      return query === "" ? { next: state, wish: "leave" } : ask("");
    case "backspace":
      return query === "" ? { next: state, wish: "none" } : ask([...query].slice(0, -1).join(""));
    case "^u":
      return ask("");
  }
  const typed = ctrl || meta ? "" : text.replace(/\p{Cc}/gu, "");
  return typed === "" ? { next: state, wish: "none" } : ask(query + typed);
}

function read(state: Picker, { name }: Key, rows: number): Step {
  const { reading = { lines: [], from: 0 }, ...list } = state;
  const last = Math.max(0, reading.lines.length - (rows - 1));
  const scroll = (by: number): Step => {
    const from = Math.min(last, Math.max(0, reading.from + by));
    return { next: { ...state, reading: { ...reading, from } }, wish: "none" };
  };
  switch (name) {
    case "down":
    case "j":
      return scroll(1);
    case "up":
    case "k":
      return scroll(-1);
    case "pagedown":
    case "space":
      return scroll(rows - 2);
    case "pageup":
    case "b":
      return scroll(2 - rows);
    case "home":
      return scroll(-last);
    case "end":
      return scroll(last);
    case "r":
      return { next: state, wish: "resume" };
    case "escape":
    case "q":
    case "backspace":
      return { next: list, wish: "none" };
  }
  return { next: state, wish: "none" };
}

function shownChoices(rows: number): number {
  return Math.max(1, Math.floor((rows - 2) / 2));
}

interface Style {
  bold(text: string): string;
  dim(text: string): string;
}

/** The lines of the screen, at most `rows`. */
export function screenOf(
  { query, choices, selected, reading, note }: Picker,
  style: Style,
  columns: number,
  rows: number,
): readonly string[] {
  if (reading !== undefined) {
    const shown = reading.lines.slice(reading.from, reading.from + rows - 1);
    const keys = note ?? "↑↓ Space scroll · r resumes · Esc goes back";
    return [...shown, ...Array(rows - 1 - shown.length).fill(""), style.dim(clip(keys, columns))];
  }
  const room = shownChoices(rows);
  const from = Math.max(0, selected - room + 1);
  const lines = (choices ?? []).slice(from, from + room).flatMap(({ head, line }, i) => {
    const isChosen = from + i === selected;
    const text = clip(head, columns - 2);
    return [
      `${isChosen ? "▸ " : "  "}${isChosen ? style.bold(text) : text}`,
      `    ${style.dim(clip(line, columns - 4))}`,
    ];
  });
  const told = choices?.length === 0 ? ["  Nothing found."] : lines;
  const keys = note ?? "type to search · ↑↓ choose · Enter reads · Ctrl-R resumes · Esc leaves";
  const body = [clip(`> ${query}`, columns), ...told];
  return [
    ...body,
    ...Array(Math.max(0, rows - 1 - body.length)).fill(""),
    style.dim(clip(keys, columns)),
  ];
}
