/** The first hit, which a person reads: its whole answer, and other answers of its session. */

import { maskText } from "../api/mask.ts";
import { isTalk, talkOf } from "../api/text/talk.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { SearchResult } from "../engine/search.ts";
import { textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";

type Item = SearchResult["hits"][number]["window"][number];

export interface FirstHit {
  /** The found message, with what it answers or the answer to it. */
  readonly talk: readonly Item[];
  /** What else was said in its session, in the order of the conversation: the last word is the last. */
  readonly more: readonly Item[];
}

/** Other messages that are shown, and messages that are looked at. */
const MORE = 3;
const LOOKED_AT = 20;
/** A shorter message agrees. */
const LEAST_LETTERS = 40;
/** A shorter one that begins so says what will be done, not what came of it. */
const ANNOUNCES =
  /^(?:[\w ]{1,20}[,.!:] {1,4})?(?:now,? )?(?:let me|let's|I'll|I will|I'm going)\b/i;
const ANNOUNCEMENT_LETTERS = 400;
/** Of a longer message the part around most matches is shown. */
const MAX_LETTERS = 32_768;

/** `words` are those of the query, none if only the hit meets it; undefined if nothing was found. */
export async function readFirstHit(
  tenant: TenantApi,
  words: string,
  { hits }: SearchResult,
): Promise<FirstHit | undefined> {
  const [hit] = hits;
  if (hit === undefined) return undefined;
  const talk = talkOf(hit.window, hit.exchange);
  const known = new Set(talk.map(({ entryId }) => entryId));
  const session = await tenant.getSession(hit.sessionId);
  const more: { readonly item: Item; readonly entry: Entry }[] = [];
  for await (const recalled of words === "" ? [] : session.recall(words, { k: LOOKED_AT })) {
    if (recalled.type !== "message" || more.length === MORE) continue;
    // What does not hold any more is no answer.
    if (recalled.mark !== undefined || recalled.supersededBy !== undefined) continue;
    const item = recalled.window.find(({ found }) => found);
    if (item === undefined || known.has(item.entryId) || !isTalk(item)) continue;
    if (item.role === "assistant" && !isAnnouncement(item)) {
      more.push({ item: { ...item, found: false }, entry: recalled.entry });
    }
  }
  const finder = wordFinder([
    ...hits.flatMap(({ window }) => window),
    ...more.map(({ item }) => item),
  ]);
  const whole = (item: Item, entry: Entry) => withWhole(item, entry, finder);
  return {
    talk: await Promise.all(
      talk.map(async (item) =>
        item.truncated && isSaying(item) ? whole(item, await session.getEntry(item.entryId)) : item,
      ),
    ),
    more: more
      .map(({ item, entry }) => (item.truncated ? whole(item, entry) : item))
      .sort((a, b) => a.index - b.index),
  };
}

function isAnnouncement(item: Item): boolean {
  const { snippet } = item;
  if (!isSaying(item) || snippet.length < LEAST_LETTERS) return true;
  return snippet.length < ANNOUNCEMENT_LETTERS && ANNOUNCES.test(snippet.trimStart());
}

function isSaying({ role, toolName }: Item): boolean {
  return role === "assistant" && toolName === null;
}

/** The item with all of its message's text in the place of the part around most matches. */
function withWhole(item: Item, { blocks }: Entry, find: Finder): Item {
  const said = textOf(blocks);
  if (said === "" || said.length > MAX_LETTERS) return item;
  const snippet = maskText(said);
  return { ...item, snippet, matches: find(snippet), truncated: false };
}

type Finder = (text: string) => Item["matches"];

/** Finds the words that the query matched in any of the items. */
function wordFinder(items: readonly Item[]): Finder {
  const words = new Set(
    items.flatMap(({ snippet, matches }) =>
      matches.map(({ start, end }) => snippet.slice(start, end).toLowerCase()),
    ),
  );
  return (text) =>
    [...text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)].flatMap(({ 0: word, index }) =>
      words.has(word.toLowerCase()) ? [{ start: index, end: index + word.length }] : [],
    );
}
