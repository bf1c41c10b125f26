/** A hit as talk: what was asked and what was said to it. The command line and the page show it alike. */

import { opensInjected } from "../../search/document/injected.ts";
import { isCallPart } from "./tool-call.ts";

/** What is read of a message of a hit's window. */
export interface TalkItem {
  readonly found: boolean;
  readonly role: string | null;
  readonly actor: string | null;
  readonly toolName: string | null;
  readonly snippet: string;
  readonly truncated: boolean;
}

/** Neighbours of a hit among which the request and the answer are looked for. */
export const TALK_REACH: { readonly contextBefore: number; readonly contextAfter: number } = {
  contextBefore: 7,
  contextAfter: 8,
};

/**
 * The found message with the request before it, or with the answer to it; empty without a found one.
 * The index knows the other half of most exchanges (`exchange`), however long they are.
 */
export function talkOf<Item extends TalkItem>(
  window: readonly Item[],
  exchange?: Item,
): readonly Item[] {
  const at = window.findIndex(({ found }) => found);
  const found = window[at];
  if (found === undefined) return [];
  if (exchange !== undefined && isTalk(exchange)) {
    return found.role === "user" ? [found, exchange] : [exchange, found];
  }
  if (found.role !== "user") {
    const asked = window.slice(0, at).findLast((item) => item.role === "user" && isTalk(item));
    return asked === undefined ? [found] : [asked, found];
  }
  const after = window.slice(at + 1);
  const next = after.findIndex((item) => item.role === "user" && isTalk(item));
  const answers = next < 0 ? after : after.slice(0, next);
  // The last word before the next request: the first ones say what will be done.
  const said = answers.findLast((item) => item.role === "assistant" && isTalk(item));
  return said === undefined ? [found] : [found, said];
}

/** `you asked`, `it said`, `it ran`, `it got`. */
export function whoDid(
  { role, actor, toolName, snippet, truncated }: TalkItem,
  agent: string,
): string {
  if (role === "tool") return "it got";
  const isAgent = role === "assistant" || actor === agent;
  const who = actor === null || actor === agent ? (isAgent ? "it" : "you") : actor;
  if (!isAgent) return role === "user" ? `${who} asked` : (role ?? "message");
  return `${who} ${toolName !== null && isCallPart(snippet, truncated) ? "ran" : "said"}`;
}

/** Messages without text, system messages and injected text are none. */
export function isSaid({ snippet, role }: Pick<TalkItem, "snippet" | "role">): boolean {
  if (snippet.trim() === "" || role === "system") return false;
  return role === "assistant" || !opensInjected(snippet);
}

/** A call alone says nothing. */
export function isTalk(item: TalkItem): boolean {
  return item.role !== "tool" && isSaid(item) && !isCallPart(item.snippet.trimStart(), false);
}
