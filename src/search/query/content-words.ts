/** The content words of a question. */

import { ENGLISH } from "../analysis/morphology.ts";
import { stopWordWeight } from "../analysis/stop-words.ts";

/** A phrase in quotes, or a run without spaces. */
const PIECES = /"[^"]*"|\S+/g;
/** A word without syntax, with a sentence's punctuation. */
const PLAIN = /^[([]*(\p{L}+)(?:['’]\p{L}+)?[)\].,;:!?…]*$/u;

/**
 * `query` without its stop words, so that `about` alone in "tell me about zebras" finds nothing. A
 * query of stop words only is unchanged; so are phrases, operators and filters.
 */
export function contentWords(query: string): string {
  const pieces = query.match(PIECES) ?? [];
  const meant = pieces.filter((piece) => !isStopWord(piece));
  return meant.length === 0 || meant.length === pieces.length ? query : meant.join(" ");
}

function isStopWord(piece: string): boolean {
  const [, word] = PLAIN.exec(piece) ?? [];
  return word !== undefined && stopWordWeight(ENGLISH.stem(word.toLowerCase()), "english") < 1;
}
