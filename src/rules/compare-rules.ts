/** Compares rules: which bear on a question, and which later one replaces an earlier one. */

import type { Rule } from "../model/note.ts";
import { contentWordsOf, findStatement } from "../search/hits/statement.ts";

/** Words that make a sentence a rule, and say nothing about what. Stems as the index has them. */
const CUES = contentWordsOf(
  "always never prefer preferred preference please ensure make sure remember everywhere whenever now forward future default general ask asking user want like love prioritize prioritized should must need use using",
  "english",
);

function wordsOf(text: string): ReadonlySet<string> {
  return new Set([...contentWordsOf(text, "english")].filter((word) => !CUES.has(word)));
}

/** Those that share words with the question first, by how rare the words are; then the newest. */
export function orderRules(rules: readonly Rule[], question: string): readonly Rule[] {
  const asked = wordsOf(question);
  const words = rules.map(({ text }) => wordsOf(text));
  const counts = new Map<string, number>();
  for (const word of words.flatMap((own) => [...own])) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const score = (own: ReadonlySet<string>) => {
    let sum = 0;
    for (const word of own) {
      if (asked.has(word)) sum += Math.log(1 + rules.length / (counts.get(word) ?? 1));
    }
    return sum;
  };
  return rules
    .map((rule, i) => ({ rule, score: score(words[i] ?? new Set()) }))
    .sort((a, b) => b.score - a.score || b.rule.saidAt - a.rule.saidAt)
    .map(({ rule }) => rule);
}

/** The same sentence, however it was written. */
export function sameText(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

export function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]{1,16}/gu, " ")
    .trim();
}

/** Subject words that two rules about the same thing share, of the one with fewer and of the other. */
const SAME_SUBJECT = 0.5;
const SAME_WIDTH = 0.33;
/** A single shared word is a subject only in short rules: "indent with tabs". */
const SHORT_RULE = 3;
/** When a rule applies. */
const OCCASION =
  /\b(?:when(?:ever)?|if|(?:every|each|any) ?time|for|in(?= \S+ \S)|during|before|after) ([^\n]+)/i;
/** Chooses one of several: of two such rules about one thing only one can hold. */
const CHOOSES =
  /\b(?:use|using|prefer|format|write|name|call|keep|set|limit|answer|reply|respond|default|indent|spell|cite|only|over|instead|rather)\b/i;
/** Adds to what was asked for, so that several such rules hold together. */
const ADDS = /\b(?:include|add|provide|mention|give|show|list|specify|cover|highlight|also)\b/i;
const FORBIDS = /\b(?:never|don['’]?t|do not|avoid|stop|no longer|not|dislike|hate)\b/i;

/**
 * Whether the later rule says something else about the same thing: the same subject words, and
 * another number, the opposite, or another choice.
 */
export function replacesRule(later: Rule, earlier: Rule): boolean {
  if (later.saidAt < earlier.saidAt || sameText(later.text, earlier.text)) return false;
  if (!isAboutSame(later.text, earlier.text)) return false;
  if (hasOtherOccasion(later.text, earlier.text)) return false;
  const [before, after] = [wordsOf(earlier.text), wordsOf(later.text)];
  const shared = [...after].filter((word) => before.has(word)).length;
  if (hasOtherValue(later.text, earlier.text)) return true;
  if (FORBIDS.test(later.text) !== FORBIDS.test(earlier.text))
    return shared === Math.min(before.size, after.size);
  const isChoice = [later, earlier].every(({ text }) => CHOOSES.test(text) && !ADDS.test(text));
  return isChoice && shared < before.size && shared < after.size;
}

function isAboutSame(a: string, b: string): boolean {
  const [some, others] = [wordsOf(a), wordsOf(b)];
  const shared = [...some].filter((word) => others.has(word)).length;
  const [least, most] = [Math.min(some.size, others.size), Math.max(some.size, others.size)];
  if (shared === 1 && most <= SHORT_RULE) return shared >= SAME_SUBJECT * least;
  return shared > 1 && shared > SAME_SUBJECT * least && shared >= SAME_WIDTH * most;
}

/** Whether both say when they apply, about different things. */
function hasOtherOccasion(a: string, b: string): boolean {
  const [some, others] = [a, b].map((text) => wordsOf(OCCASION.exec(text)?.[1] ?? ""));
  if (!some?.size || !others?.size) return false;
  const shared = [...some].filter((word) => others.has(word)).length;
  return shared <= SAME_SUBJECT * Math.min(some.size, others.size);
}

function hasOtherValue(later: string, earlier: string): boolean {
  const [a, b] = [later, earlier].map((text) => findStatement(text, "english", () => 1)?.values);
  return [...(a ?? [])].some(([kind, values]) => {
    const before = b?.get(kind);
    return before !== undefined && [...values].some((value) => !before.has(value));
  });
}
