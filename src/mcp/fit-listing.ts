/**
 * Lists, sessions and texts within a number of bytes, as answers are measured in bytes: whole items
 * while they fit, then a note, and a pointer to read on.
 *
 * Messages have short references: `k3f9#12` is the short id of a session and the index of a message
 * on its active path. It takes a fifth of the tokens of the two full ids.
 */

import { ABOUT_RECALLED } from "../api/text/session-heading.ts";
import { quoteConversation } from "../context/quote.ts";
import { shownName } from "./agent-names.ts";

type Naming = Parameters<typeof shownName>[0];

interface Listing {
  readonly items: readonly string[];
  /** The item shown first; others are added outwards from it. Default: the first. */
  readonly focus?: number;
  /** The answer with the items from `from` to before `to`. */
  readonly toText: (shown: readonly string[], from: number, to: number) => string;
}

/** At most `maxBytes` of UTF-8. Items are whole; only the focus is cut if it alone is too long. */
export function fitListing({ items, focus = 0, toText }: Listing, maxBytes: number): string {
  const textOf = (from: number, to: number) => toText(items.slice(from, to), from, to);
  const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
  const all = textOf(0, items.length);
  if (items.length === 0) return cutToBytes(all, maxBytes);
  if (fits(all)) return all;

  let [from, to] = [focus, focus + 1];
  let shown = textOf(from, to);
  if (!fits(shown))
    return cutFocus(items[focus] ?? "", (item) => toText([item], from, to), maxBytes);
  let [isOpenBefore, isOpenAfter] = [from > 0, to < items.length];
  while (isOpenBefore || isOpenAfter) {
    if (isOpenAfter) {
      const more = textOf(from, to + 1);
      isOpenAfter = fits(more) && to + 1 < items.length;
      if (fits(more)) [shown, to] = [more, to + 1];
    }
    if (isOpenBefore) {
      const more = textOf(from - 1, to);
      isOpenBefore = fits(more) && from - 1 > 0;
      if (fits(more)) [shown, from] = [more, from - 1];
    }
  }
  return shown;
}

/** The envelope may grow with its items, so the number is found by trial. */
function cutFocus(item: string, toText: (item: string) => string, maxBytes: number): string {
  let room = maxBytes - Buffer.byteLength(toText(""));
  while (room > 0) {
    const text = toText(cutToBytes(item, room));
    const over = Buffer.byteLength(text) - maxBytes;
    if (over <= 0) return text;
    room -= Math.max(over, 16);
  }
  return cutToBytes(toText(""), maxBytes);
}

interface SessionText {
  readonly text: string;
  readonly shortId: string;
  /** The message to read on from; null: unknown. */
  readonly index: number | null;
}

/** `notes` follow the sessions. */
export function fitSessions(
  host: Naming,
  sessions: readonly SessionText[],
  notes: readonly string[],
  maxBytes: number,
): string {
  const items = sessions.map(({ text }) => text);
  const [first] = sessions;
  const on = first === undefined ? [] : [readOn(host, first.shortId, first.index ?? 0)];
  const toText = (shown: readonly string[], _from: number, to: number) => {
    const left = items.length - to;
    const more = left > 0 ? [`${left} more sessions do not fit into max_tokens.`] : [];
    const told = [...more, ...notes, ...on];
    return `${quoteConversation(ABOUT_RECALLED, shown.join("\n"))}\n${told.join(" ")}`;
  };
  return fitListing({ items, toText }, maxBytes);
}

const encoder = new TextEncoder();
const MARK = "…";
const MARK_BYTES = 3;

/** The head of `text` within `limit` bytes, with a mark if it was cut. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return text;
  const room = new Uint8Array(Math.max(0, limit - MARK_BYTES));
  const { read } = encoder.encodeInto(text, room);
  return `${text.slice(0, read)}${MARK}`;
}

const OPENING = "<recalled-context>";
const CLOSING = "\n</recalled-context>";

/** As `cutToBytes`; closes the quoting element at the cut. */
export function cutQuoted(text: string, limit: number): string {
  const cut = cutToBytes(text, limit);
  const isOpen = cut.includes(OPENING) && text.includes(CLOSING) && !cut.includes(CLOSING);
  return isOpen ? `${cutToBytes(text, limit - CLOSING.length)}${CLOSING}` : cut;
}

interface MessageRef {
  /** Absent if only an index was given. */
  readonly session?: string;
  readonly index: number;
}

export function formatRef(session: string, index: number | null): string {
  return index === null ? session : `${session}#${index}`;
}

/** The last line of an answer: how to read on from a message. */
export function readOn(host: Naming, session: string, index: number | null): string {
  const name = shownName(host, "list_messages");
  return `Read on: ${name} { "around": "${formatRef(session, index)}" }.`;
}

/** Parses `k3f9#12`, `#12` or `12`; undefined for anything else, such as an entry's id. */
export function parseRef(text: string): MessageRef | undefined {
  const [, session = "", index] = /^(?:(.+)#|#?)(\d{1,9})$/s.exec(text) ?? [];
  if (index === undefined) return undefined;
  return { index: Number(index), ...(session === "" ? {} : { session }) };
}
