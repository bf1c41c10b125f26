/** Whether a text mentions a request: by its entry's id, or by its words. */

import type { CitedText } from "../summary.ts";

/** The share of a request's words that must occur: a paraphrase keeps half, chance does not. */
const WORD_SHARE = 0.5;
/** Scripts without spaces use character pairs, which a paraphrase changes more easily. */
const PAIR_SHARE = 0.35;
const MAX_WORDS = 40;

const FILLERS = new Set(
  `about after again also another because before been being both cannot could does doing done dont each
  else from give have having here into just like make many more most much must need only other over
  please same should some such than that thats their them then there these they thing this those
  through very want well were what when where which while will with would your yours`.split(/\s+/),
);

export function namesRequest(answer: string, request: CitedText): boolean {
  if (citedIds(answer).has(request.entryId)) return true;
  const lowered = answer.toLowerCase();
  const { words, pairs } = significantParts(request.text);
  if (words.length + pairs.length === 0) return true;
  const found = (parts: readonly string[]) => parts.filter((part) => lowered.includes(part)).length;
  const needed = words.length * WORD_SHARE + pairs.length * PAIR_SHARE;
  return found(words) + found(pairs) >= needed;
}

/** The ids in square brackets, one or several per pair. */
function citedIds(text: string): Set<string> {
  const brackets = text.matchAll(/\[([^[\]\n]{1,400})\]/g);
  return new Set([...brackets].flatMap(([, inside = ""]) => inside.split(/[\s,;]+/)));
}

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+/gu;

function significantParts(text: string): { words: string[]; pairs: string[] } {
  const lowered = text.toLowerCase();
  const pairs = (lowered.match(UNSPACED) ?? []).flatMap((run) => {
    const characters = [...run];
    return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  });
  const all = lowered.replace(UNSPACED, " ").match(/[\p{L}\p{N}_]+/gu) ?? [];
  const long = all.filter((word) => (word.length > 3 || /\d/.test(word)) && !FILLERS.has(word));
  const words = long.length > 0 || pairs.length > 0 ? long : all;
  const unique = (parts: readonly string[]) => [...new Set(parts)].slice(0, MAX_WORDS);
  return { words: unique(words.map(stem)), pairs: unique(pairs) };
}

/** The word without its ending, so that "tests" matches "testing"; names with digits stay whole. */
function stem(word: string): string {
  return /[\d_]/.test(word) || word.length < 6 ? word : word.slice(0, Math.max(5, word.length - 3));
}
