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

/** What is compared of a rule, computed once: a rule is compared with hundreds. */
interface Features {
  readonly plain: string;
  readonly words: ReadonlySet<string>;
  /** Words of when it applies. */
  readonly occasion: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  readonly forbids: boolean;
  readonly chooses: boolean;
}

const known = new WeakMap<Rule, Features>();

function featuresOf(rule: Rule): Features {
  const found = known.get(rule);
  if (found !== undefined) return found;
  const { text } = rule;
  const features: Features = {
    plain: plain(text),
    words: wordsOf(text),
    occasion: wordsOf(OCCASION.exec(text)?.[1] ?? ""),
    values: findStatement(text, "english", () => 1)?.values ?? new Map(),
    forbids: FORBIDS.test(text),
    chooses: CHOOSES.test(text) && !ADDS.test(text),
  };
  known.set(rule, features);
  return features;
}

/** Those that share words with the question first, by how rare the words are; then the newest. */
export function orderRules(rules: readonly Rule[], question: string): readonly Rule[] {
  const asked = wordsOf(question);
  const words = rules.map((rule) => featuresOf(rule).words);
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
export function sameText(a: Rule, b: Rule): boolean {
  return featuresOf(a).plain === featuresOf(b).plain;
}

function plain(text: string): string {
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
  if (later.saidAt < earlier.saidAt) return false;
  const [before, after] = [featuresOf(earlier), featuresOf(later)];
  const shared = countShared(after.words, before.words);
  if (!isAboutSame(shared, after, before) || after.plain === before.plain) return false;
  if (hasOtherOccasion(after, before)) return false;
  if (hasOtherValue(after, before)) return true;
  if (after.forbids !== before.forbids)
    return shared === Math.min(before.words.size, after.words.size);
  const isChoice = after.chooses && before.chooses;
  return isChoice && shared < before.words.size && shared < after.words.size;
}

function countShared(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of some) if (others.has(word)) shared++;
  return shared;
}

function isAboutSame(shared: number, a: Features, b: Features): boolean {
  if (shared === 0) return false;
  const least = Math.min(a.words.size, b.words.size);
  const most = Math.max(a.words.size, b.words.size);
  if (shared === 1 && most <= SHORT_RULE) return shared >= SAME_SUBJECT * least;
  return shared > 1 && shared > SAME_SUBJECT * least && shared >= SAME_WIDTH * most;
}

/** Whether both say when they apply, about different things. */
function hasOtherOccasion({ occasion: a }: Features, { occasion: b }: Features): boolean {
  if (a.size === 0 || b.size === 0) return false;
  return countShared(a, b) <= SAME_SUBJECT * Math.min(a.size, b.size);
}

function hasOtherValue(later: Features, earlier: Features): boolean {
  return [...later.values].some(([kind, values]) => {
    const before = earlier.values.get(kind);
    return before !== undefined && [...values].some((value) => !before.has(value));
  });
}
