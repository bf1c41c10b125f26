/** Sessions as quoted text within a size, with notes and the way to read on. */

import { ABOUT_RECALLED } from "../api/memory-words.ts";
import { quoteConversation } from "../context/quote.ts";
import { fitListing } from "./fit-listing.ts";

/** `items` has a text for each session; `notes` stand behind them. */
export function fitSessions(
  items: readonly string[],
  notes: readonly string[],
  maxBytes: number,
): string {
  const toText = (shown: readonly string[], _from: number, to: number) => {
    const left = items.length - to;
    const told = [
      ...(left > 0 ? [`${left} more sessions do not fit into max_tokens.`] : []),
      ...notes,
      'Read on: list_messages { "around": "SESSION#NUMBER" }.',
    ];
    return `${quoteConversation(ABOUT_RECALLED, shown.join("\n"))}\n${told.join(" ")}`;
  };
  return fitListing({ items, toText }, maxBytes);
}
