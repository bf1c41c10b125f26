/** The lines of a message that have most of a prompt's words. */

import { termsOf } from "./words.ts";

const LINES = 3;
const MAX_PASSAGE = 700;
const MAX_TEXT = 20_000;
/** Shorter prompts are repeated by chance. */
const MIN_ECHO = 12;
const MAX_ECHO = 400;

export interface Passage {
  readonly text: string;
  /** The weight, and the number, of the prompt's words in it. */
  readonly weight: number;
  readonly words: number;
}

export function bestPassage(text: string, weights: ReadonlyMap<string, number>): Passage {
  const lines = text
    .slice(0, MAX_TEXT)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  let best: Passage = { text: "", weight: 0, words: 0 };
  for (let i = 0; i < lines.length; i++) {
    const part = lines
      .slice(i, i + LINES)
      .join("\n")
      .slice(0, MAX_PASSAGE);
    const terms = termsOf(part);
    let [weight, words] = [0, 0];
    for (const [term, each] of weights) {
      if (!terms.has(term)) continue;
      weight += each;
      words++;
    }
    if (weight > best.weight) best = { text: part, weight, words };
  }
  return best;
}

/** Without the lines that repeat the prompt: a list of commits, a quoted question. */
export function withoutEcho(text: string, prompt: string): string {
  const asked = bare(prompt.slice(0, MAX_ECHO));
  if (asked.length < MIN_ECHO) return text;
  return text
    .slice(0, MAX_TEXT)
    .split("\n")
    .filter((line) => !bare(line).includes(asked))
    .join("\n");
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
