/** Maps a parsed query to terms and conditions, with the text's analyzer. */

import { type Language, MORPHOLOGIES } from "../analysis/analyze.ts";
import { stopWordWeight } from "../analysis/stop-words.ts";
import { type TermKind, tokenize } from "../analysis/tokenize.ts";
import type { Condition, Leaf, ParsedQuery, ScoredTerm, TermQuery } from "./query.ts";

/**
 * The weight of a part of an identifier beside the whole. 0.5 to 1 measure alike; without parts,
 * coding sessions lose a point of hit@1.
 */
const PART_WEIGHT = 0.75;

export function analyzeQuery(parsed: ParsedQuery, language: Language): TermQuery {
  const scoring = new Scoring(language);
  for (const leaf of [...parsed.required.flat(), ...parsed.optional]) scoring.add(leaf);
  const typed = withoutQuotes(parsed.typed.trim());

  return {
    scored: scoring.terms(),
    words: scoring.words(),
    prefixes: scoring.prefixes(),
    typed,
    verbatim: verbatimOf(typed, language),
    required: requiredConditions(parsed.required, language),
    excluded: parsed.excluded.flatMap((leaf) => conditionsOf(leaf, language)),
    filters: parsed.filters,
    notes: parsed.notes,
  };
}

/** Longer queries, in words or characters, are no line. */
const MAX_VERBATIM = 64;
const MAX_LINE = 1_024;

/** A line that was pasted between quotes. */
const QUOTED = /^["“”„]([^"“”„]*)["“”„]$/;

function withoutQuotes(text: string): string {
  return QUOTED.exec(text)?.[1]?.trim() ?? text;
}

/** A name is found by its whole already, so a query of one name has no phrase. */
function verbatimOf(typed: string, language: Language): readonly (string | null)[] {
  const tokens = typed.length > MAX_LINE ? [] : tokensOf(typed, language);
  const isOne = !/\s/.test(typed) && !tokens.some(({ kind }) => kind === "pair");
  const words = isOne ? [] : sequenceOf(tokens);
  return words.length < 2 || words.length > MAX_VERBATIM ? [] : words;
}

interface Token {
  readonly term: string;
  readonly position: number;
  readonly start: number;
  readonly end: number;
  readonly kind: TermKind;
}

function tokensOf(text: string, language: Language): Token[] {
  const tokens: Token[] = [];
  tokenize(text, 0, MORPHOLOGIES[language], (term, position, start, end, kind) => {
    tokens.push({ term, position, start, end, kind });
  });
  return tokens;
}

/**
 * Unstemmed words where stemming changes them: `listsessions` is `listSessions` in lower case, and
 * whole identifiers are never stemmed.
 */
function unstemmed(
  text: string,
  tokens: readonly Token[],
  language: Language,
): ReadonlyMap<Token, string> {
  const words = new Map<Token, string>();
  if (language === "simple") return words;
  const written = new Map(tokensOf(text, "simple").map((token) => [token.start, token]));
  for (const token of tokens) {
    const word = written.get(token.start);
    if (token.kind !== "word" || word?.end !== token.end || word.term === token.term) continue;
    if (stopWordWeight(token.term, language) === 1) words.set(token, word.term);
  }
  return words;
}

class Scoring {
  readonly #language: Language;
  /** The weight of each term, and the same for a query of stop words only. */
  readonly #weights = new Map<string, { weight: number; asWord: number; isPiece: boolean }>();
  /** The identifier of each part, unless the part also stands alone. */
  readonly #wholes = new Map<string, string | undefined>();
  readonly #prefixes = new Set<string>();
  readonly #words: string[][] = [];

  constructor(language: Language) {
    this.#language = language;
  }

  add(leaf: Leaf): void {
    const tokens = tokensOf(leaf.text, this.#language);
    for (const { term, kind, start, end } of tokens) {
      const whole =
        kind === "part"
          ? tokens.find((each) => each.kind === "whole" && each.start <= start && end <= each.end)
          : undefined;
      if (!this.#wholes.has(term) || whole === undefined) this.#wholes.set(term, whole?.term);
      // A run's bigrams include its last letter; an isolated letter is a prefix of bigrams.
      if (kind === "single") this.#prefixes.add(term);
      if (kind === "last" || kind === "single") continue;
      const asWord = kind === "part" ? PART_WEIGHT : 1;
      const isPiece = kind === "word" || kind === "part" || kind === "pair";
      this.#add(term, Math.min(asWord, stopWordWeight(term, this.#language)), asWord, isPiece);
    }
    const written = unstemmed(leaf.text, tokens, this.#language);
    for (const term of written.values()) this.#add(term, 1, 1, false);
    for (const token of leaf.kind === "word" ? tokens : []) {
      if (token.kind !== "word" || stopWordWeight(token.term, this.#language) < 1) continue;
      this.#words.push([token.term, written.get(token) ?? token.term]);
    }
    if (leaf.kind === "prefix")
      for (const prefix of prefixesOf(leaf.text, this.#language)) this.#prefixes.add(prefix);
  }

  terms(): ScoredTerm[] {
    const entries = [...this.#weights];
    const meant = entries.some(([term]) => stopWordWeight(term, this.#language) === 1);
    const all = !meant && this.#prefixes.size === 0;
    return entries.map(([term, { weight, asWord, isPiece }]) => ({
      term,
      weight: all ? asWord : weight,
      isPiece,
      ...wholeOf(this.#wholes.get(term)),
    }));
  }

  words(): string[][] {
    return this.#words;
  }

  prefixes(): string[] {
    return [...this.#prefixes];
  }

  #add(term: string, weight: number, asWord: number, isPiece: boolean): void {
    const before = this.#weights.get(term);
    this.#weights.set(term, {
      weight: Math.max(weight, before?.weight ?? 0),
      asWord: Math.max(asWord, before?.asWord ?? 0),
      isPiece: isPiece || (before?.isPiece ?? false),
    });
  }
}

function wholeOf(whole: string | undefined): Pick<ScoredTerm, "whole"> {
  return whole === undefined ? {} : { whole };
}

/**
 * The whole of `foo_ba`, so that `foo_ba*` finds `foo_bar` and `fooBaz`; else its last word. Words
 * are indexed by their stem, so the stem of `modules*` is a prefix too.
 */
function prefixesOf(text: string, language: Language): string[] {
  const tokens = tokensOf(text, "simple").filter(({ kind }) => kind !== "last");
  const { end } = extentOf(tokens);
  const last = tokens.filter((token) => token.end === end);
  const whole = last.findLast(({ kind }) => kind === "whole") ?? last.at(-1);
  if (whole === undefined) return [];
  const stem = MORPHOLOGIES[language].stem(whole.term);
  if (whole.kind !== "word" || stem === whole.term) return [whole.term];
  return whole.term.startsWith(stem) ? [stem] : [whole.term, stem];
}

/** A group of stop-words alone is ignored, unless the query has no other word. */
function requiredConditions(
  groups: readonly (readonly Leaf[])[],
  language: Language,
): (readonly Condition[])[] {
  const conditions = groups
    .map((leaves) => leaves.flatMap((leaf) => conditionsOf(leaf, language)))
    .filter((group) => group.length > 0);
  const meant = conditions.filter((group) => !group.every((one) => isStopWord(one, language)));
  return meant.length > 0 ? meant : conditions;
}

function isStopWord(condition: Condition, language: Language): boolean {
  if (condition.kind !== "terms" || condition.terms.length > 1) return false;
  return condition.terms.every((term) => stopWordWeight(term, language) < 1);
}

/** The alternatives by which a document meets `leaf`; none without words. */
function conditionsOf(leaf: Leaf, language: Language): Condition[] {
  const tokens = tokensOf(leaf.text, language);
  if (tokens.length === 0) return [];
  const conditions: Condition[] = wholesOf(tokens).map(({ term }) => ({
    kind: "terms",
    terms: [term],
  }));

  const isDate = tokens[0]?.kind === "date" && conditions.length > 0;
  const sequence = sequenceOf(tokens);
  if (sequence.length === 0) {
    const singles = tokens.filter(({ kind }) => kind === "single");
    for (const { term } of singles) conditions.push({ kind: "prefix", prefix: term });
  } else if (isDate) {
    // A written date has the same words in another order.
    conditions.push({ kind: "terms", terms: tokens.slice(1).map(({ term }) => term) });
  } else if (sequence.length === 1) {
    const words = [sequence[0] ?? "", ...unstemmed(leaf.text, tokens, language).values()];
    for (const word of words) conditions.push({ kind: "terms", terms: [word] });
  } else {
    conditions.push({ kind: "phrase", terms: sequence });
  }
  if (leaf.kind === "prefix") {
    for (const prefix of prefixesOf(leaf.text, language))
      conditions.push({ kind: "prefix", prefix });
  }
  return conditions;
}

/** The wholes of the typed text: `foobar` of `foo_bar`. */
function wholesOf(tokens: readonly Token[]): Token[] {
  const { start, end } = extentOf(tokens);
  return tokens.filter(
    (token) =>
      (token.kind === "whole" || token.kind === "date") &&
      token.start === start &&
      token.end === end,
  );
}

function extentOf(tokens: readonly Token[]): { readonly start: number; readonly end: number } {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const token of tokens) {
    start = Math.min(start, token.start);
    end = Math.max(end, token.end);
  }
  return { start, end };
}

/** A term per position. Null for an isolated dense letter: in the text it may begin a bigram. */
function sequenceOf(tokens: readonly Token[]): (string | null)[] {
  const sequence: (string | null)[] = [];
  for (const { term, position, kind } of tokens) {
    if (kind === "word" || kind === "part" || kind === "pair") sequence[position] ??= term;
    else sequence[position] ??= null;
  }
  while (sequence.at(-1) === null) sequence.pop();
  return sequence.slice(sequence.findIndex((term) => term !== null));
}
