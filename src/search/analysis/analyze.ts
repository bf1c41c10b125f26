/** The analyzer: from text to terms. */

import type { Language } from "../../model/inputs/choices.ts";
import { ENGLISH, type Morphology, SIMPLE } from "./morphology.ts";
import { type PlainWords, tokenize } from "./tokenize.ts";

export type { Language } from "../../model/inputs/choices.ts";

/**
 * Called once per term. `position` counts words; parts of one identifier take successive positions,
 * its whole stands at the first.
 */
export type TermSink = (term: string, position: number) => void;

/** Feeds every term of `text` to `sink`; positions start at `from`. Gives the position after the last word. */
export function analyze(text: string, from: number, language: Language, sink: TermSink): number {
  return tokenize(text, from, MORPHOLOGIES[language], sink);
}

/** Receives terms; plain words arrive as ranges of the text (`PlainWords`). */
export interface WordSink extends PlainWords {
  term(term: string, position: number): void;
}

/** As `analyze`, without a string per plain word. */
export function analyzeWords(
  text: string,
  from: number,
  language: Language,
  sink: WordSink,
): number {
  const add: TermSink = (term, position) => sink.term(term, position);
  const morphology = MORPHOLOGIES[language];
  return tokenize(text, from, morphology, add, sink);
}

export const MORPHOLOGIES: Readonly<Record<Language, Morphology>> = {
  english: ENGLISH,
  simple: SIMPLE,
};

/** Incremented with every change that gives some text other terms. */
const ANALYZER_NUMBER = 3;

/**
 * Identifies the analysis of an index: a segment of another version is rebuilt, not misread. The
 * runtime's Unicode version is no part of it: two versions give the same terms of all code points
 * that the older one knows, and processes on two versions of Node would rebuild in turns.
 */
export function analyzerVersion(language: Language): string {
  return `${ANALYZER_NUMBER}/${language}`;
}
