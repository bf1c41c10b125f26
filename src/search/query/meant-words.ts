/** The words of a question that say what it is about. */

import { ENGLISH } from "../analysis/morphology.ts";
import { stopWordWeight } from "../analysis/stop-words.ts";

/** A phrase in quotes, or what stands between spaces. */
const PIECES = /"[^"]*"|\S+/g;
/** A word without syntax, and the punctuation of a sentence round it. */
const PLAIN = /^[([]*(\p{L}+)(?:['’]\p{L}+)?[)\].,;:!?…]*$/u;

/**
 * `query` without its stop-words, so that nothing is found for `about` alone in "tell me about zebras". A
 * query of nothing but stop-words stays as it is; so do phrases, operators and filters.
 */
export function meantWords(query: string): string {
  const pieces = query.match(PIECES) ?? [];
  const meant = pieces.filter((piece) => !isStopWord(piece));
  return meant.length === 0 || meant.length === pieces.length ? query : meant.join(" ");
}

function isStopWord(piece: string): boolean {
  const [, word] = PLAIN.exec(piece) ?? [];
  return word !== undefined && stopWordWeight(ENGLISH.stem(word.toLowerCase()), "english") < 1;
}
