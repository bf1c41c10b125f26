/** Formats sessions as quoted text within a size, with notes and a pointer to read on. */

import { ABOUT_RECALLED } from "../api/memory-words.ts";
import { quoteConversation } from "../context/quote.ts";
import { fitListing } from "./fit-listing.ts";
import { readOn } from "./refs.ts";

export interface SessionText {
  readonly text: string;
  readonly shortId: string;
  /** The message to read on from; null: unknown. */
  readonly index: number | null;
}

/** `notes` follow the sessions. */
export function fitSessions(
  sessions: readonly SessionText[],
  notes: readonly string[],
  maxBytes: number,
): string {
  const items = sessions.map(({ text }) => text);
  const [first] = sessions;
  const on = first === undefined ? [] : [readOn(first.shortId, first.index ?? 0)];
  const toText = (shown: readonly string[], _from: number, to: number) => {
    const left = items.length - to;
    const more = left > 0 ? [`${left} more sessions do not fit into max_tokens.`] : [];
    const told = [...more, ...notes, ...on];
    return `${quoteConversation(ABOUT_RECALLED, shown.join("\n"))}\n${told.join(" ")}`;
  };
  return fitListing({ items, toText }, maxBytes);
}
