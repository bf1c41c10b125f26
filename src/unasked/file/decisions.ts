/** Sentences that say what was chosen or ruled out about a file, and why. */

import type { Call } from "../../recap/read-acts.ts";
import { inputTextFields, namesIn } from "./edited-names.ts";

const MIN_SENTENCE = 30;
const MAX_SENTENCE = 320;
const MAX_TEXT = 6_000;

/** What rules something out, or chooses one of several. */
const RULES_OUT =
  /\b(?:we|i|it|this|that|you)? ?(?:don't|do not|doesn't|does not|shouldn't|should not|must not|mustn't|can't|cannot|won't|never) (?:want|need|use|rely|work|be|have|add|call|allow|support|change|depend|handle|assume|know)\b|\binstead of\b|\brather than\b|\bon purpose\b|\bby design\b|\bintentional(?:ly)?\b|\bdeliberate(?:ly)?\b|\bdecided (?:to|against|not)\b|\bwe(?:'ll| will)? keep\b|\blet's (?:not|keep|drop|remove|revert)\b|\brevert(?:ed)? (?:that|this|it|because)\b|\bno longer\b|\bwould break\b|\bnot worth\b|\btoo (?:risky|fragile|slow)\b/i;
const GIVES_REASON =
  /\bbecause\b|\bso that\b|\bsince\b|\botherwise\b|\bwhich (?:would|means)\b|\bto avoid\b/i;
/** What is still to be found out, or only told of the work. */
const NO_DECISION =
  /\?$|^(?:(?:and |but |so |ok(?:ay)?,? )?(?:now,? )?let me|now i|i'll|i will|i need|looking|first,? let)\b|\b(?:let me|i'll) (?:check|look|see|read|try)\b/i;

export interface Statement {
  readonly text: string;
  readonly score: number;
}

export function decisionsIn(
  text: string,
  name: string,
  edits: readonly Call[],
): readonly Statement[] {
  const symbols = inputTextFields(edits);
  const stem = name.replace(/\.[^.]+$/, "");
  const found: Statement[] = [];
  for (const sentence of sentencesOf(text)) {
    if (NO_DECISION.test(sentence) || !RULES_OUT.test(sentence)) continue;
    const isNamed = sentence.includes(name) || (stem.length > 5 && sentence.includes(stem));
    const named = [...symbols].filter((symbol) => sentence.includes(symbol)).length;
    if (!isNamed && named === 0) continue;
    const score = 1 + Number(isNamed) + Math.min(2, named) + Number(GIVES_REASON.test(sentence));
    if (score >= LEAST) found.push({ text: sentence, score });
  }
  return found;
}

/** Code in a sentence. */
const CODE = /`([^`]{3,60})`/g;

/**
 * Finds the sentences of texts that name something of changed lines; those that give a reason score
 * more. The lines, which may be megabytes, are read once for all texts.
 */
export function reasonFinder(lines: string): (text: string) => readonly Statement[] {
  const names = [...namesIn([lines])];
  return (text) =>
    sentencesOf(text).flatMap((sentence) => {
      const quoted = Array.from(sentence.matchAll(CODE), ([, code = ""]) => code);
      const spans = quoted.filter((code) => !names.includes(code) && lines.includes(code));
      const named = names.filter((name) => sentence.includes(name)).length + spans.length;
      if (named === 0 || NO_DECISION.test(sentence)) return [];
      const reason = Number(GIVES_REASON.test(sentence)) + Number(RULES_OUT.test(sentence));
      return [{ text: sentence, score: Math.min(2, named) + 2 * reason }];
    });
}

/** A sentence that rules out, and names one thing of the change and a reason, or two things. */
const LEAST = 3;

function sentencesOf(text: string): readonly string[] {
  const prose = text.slice(0, MAX_TEXT).replace(/```[^`]*```/g, "\n");
  return prose
    .split(/(?<=[.!?])\s+|\n+/)
    .map((part) => part.replace(/^[\s>*#\-\d.|]{1,12}/, "").trim())
    .filter(({ length }) => length >= MIN_SENTENCE && length <= MAX_SENTENCE);
}
