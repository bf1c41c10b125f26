/**
 * The tokeniser: the terms of a text, with word positions and source ranges.
 *
 * A *word* is a run of letters or digits. Words that `_ - .` join, or that change from small to
 * capital letters, are *parts* of one *name*; names that `/ \ @` join are segments of one *path*.
 * Each part is a term. So is each name and each path as a whole, without joiners: `fooBar`,
 * `foo_bar`, `foo-bar`, `foo.bar` and `foobar` all have the whole `foobar`, and
 * `src/store/index.ts` has `indexts` and `srcstoreindexts`. Only between two digits does the joiner
 * stay: `1.2.3` is not `123` (but `1_000` is `1000`).
 *
 * A whole stands at the position of its first part; the parts take one position each. Scripts
 * without spaces give overlapping bigrams, one per letter and position; the last letter of a run is
 * a term by itself. So every letter begins a term, and a query of one letter is a query for that
 * prefix. (A term for each letter would double the postings of such text.)
 */

import { APOSTROPHE, DENSE, DIGIT, LOWER, SEPARATOR, SYMBOL, TAIL, UPPER } from "./character.ts";
import { dateAt, type IsoDate } from "./date.ts";
import { type Folded, fold } from "./fold.ts";
import type { Morphology } from "./morphology.ts";
import {
  afterJoiner,
  cutTerm,
  isHash,
  isVersion,
  joinName,
  MAX_TERM_LENGTH,
  readName,
  SHORT_HASH_LENGTH,
} from "./name.ts";

/** The kind of a term: queries distinguish kinds, the index does not. */
export type TermKind =
  | "word"
  | "whole"
  | "part"
  /** A date as a whole; its year, month and day are parts. */
  | "date"
  /** Two letters of a dense script. */
  | "pair"
  /** The last letter of a dense run. */
  | "last"
  /** An isolated letter of a dense script. */
  | "single";

/** `start` and `end` are UTF-16 offsets into the original text. */
export type TokenSink = (
  term: string,
  position: number,
  start: number,
  end: number,
  kind: TermKind,
) => void;

/**
 * Receives a word as a range of the folded text, from `from` to `end`, with the function that makes
 * its term. A sink with a word cache needs neither the string nor the function.
 */
export interface PlainWords {
  word(
    folded: Folded,
    from: number,
    end: number,
    position: number,
    stem: (word: string) => string,
  ): void;
}

/**
 * Feeds every term of `text` to `sink`, and gives the position after the last word. With `words`,
 * plain stems of words go there instead.
 */
export function tokenize(
  text: string,
  from: number,
  morphology: Morphology,
  sink: TokenSink,
  words?: PlainWords,
): number {
  return tokenizeFolded(fold(text), from, morphology, sink, words);
}

/** As `tokenize`, for folded text. */
export function tokenizeFolded(
  folded: Folded,
  from: number,
  morphology: Morphology,
  sink: TokenSink,
  words?: PlainWords,
): number {
  return new Scanner(folded, from, morphology, sink, words).scan();
}

export class Scanner {
  readonly #folded: Folded;
  readonly #text: string;
  readonly #classes: Uint8Array;
  readonly #starts: Int32Array | undefined;
  readonly #ends: Int32Array | undefined;
  readonly #morphology: Morphology;
  readonly #sink: TokenSink;
  readonly #words: PlainWords | undefined;
  /** Position of the next word. */
  position: number;

  constructor(
    folded: Folded,
    from: number,
    morphology: Morphology,
    sink: TokenSink,
    words: PlainWords | undefined,
  ) {
    this.#folded = folded;
    this.#text = folded.text;
    this.#classes = folded.classes;
    this.#starts = folded.starts;
    this.#ends = folded.ends;
    this.#morphology = morphology;
    this.#sink = sink;
    this.#words = words;
    this.position = from;
  }

  scan(): number {
    const { length } = this.#classes;
    for (let i = 0; i < length; ) i = this.token(i);
    return this.position;
  }

  /** Reads the token at `from`, and gives its end. */
  token(from: number): number {
    const kind = this.#classes[from];
    if (kind === LOWER || kind === UPPER) return this.#word(from);
    if (kind === DIGIT) return this.#number(from);
    if (kind === DENSE) return this.#dense(from);
    return kind === SYMBOL ? this.#symbol(from) : from + 1;
  }

  /** From a letter: a plain word, as most are, or the first word of a name. */
  #word(from: number): number {
    const classes = this.#classes;
    let end = from + 1;
    while (classes[end] === LOWER) end++;
    const next = classes[end] ?? SEPARATOR;
    if (next === UPPER || next === DIGIT || afterJoiner(this.#text, classes, end) > 0) {
      return this.#name(from);
    }
    if (next === APOSTROPHE) return this.#contraction(from, end);
    this.#stemmed(from, end, "word");
    if (end === from + 1) this.#signedLetter(from);
    this.position++;
    return end;
  }

  /** `c#`, `f#`, `c++`: a letter whose sign is part of the name. */
  #signedLetter(from: number): void {
    const text = this.#text;
    const end = from + (text[from + 1] === "#" ? 2 : text.startsWith("++", from + 1) ? 3 : 1);
    if (end === from + 1 || (this.#classes[end] ?? SEPARATOR) !== SEPARATOR) return;
    this.#emit(text.slice(from, end), from, end, "whole");
  }

  /** A word before an apostrophe: `don't` is `do not`, `Ana's` is `ana`. */
  #contraction(from: number, apostrophe: number): number {
    const classes = this.#classes;
    let end = apostrophe + 1;
    while (classes[end] === LOWER || classes[end] === UPPER) end++;
    const word = this.#text.slice(from, apostrophe);
    const words = this.#morphology.contraction(word, this.#text.slice(apostrophe + 1, end));
    if (words === undefined) end = apostrophe;
    for (const term of words ?? [this.#morphology.stem(word)]) {
      this.#emit(term, from, end, "word");
      this.position++;
    }
    return end;
  }

  #number(from: number): number {
    const date = dateAt(this.#text, this.#classes, from);
    if (date !== undefined) return this.#date(date, from);
    const grouped = this.#groupedNumber(from);
    return grouped > from ? grouped : this.#name(from);
  }

  /** Year, month and day are separate terms, so that an ISO date matches a written one. */
  #date(date: IsoDate, from: number): number {
    const { end } = date;
    this.#emit(date.iso, from, end, "date");
    const parts = [date.year, this.#morphology.month(date.month)];
    if (date.day > 0) parts.push(String(date.day));
    for (const part of parts) {
      this.#emit(part, from, end, "part");
      this.position++;
    }
    // The `T` of a timestamp belongs to neither the date nor the hour.
    return this.#text[end] === "t" && this.#classes[end + 1] === DIGIT ? end + 1 : end;
  }

  /** `1,000,000` is one number. Gives its end, or `from` where there is none. */
  #groupedNumber(from: number): number {
    const text = this.#text;
    let end = from;
    while (this.#classes[end] === DIGIT) end++;
    if (text[end] !== "," || end - from > 3) return from;
    let digits = text.slice(from, end);
    while (text[end] === "," && this.#isDigitGroup(end + 1)) {
      digits += text.slice(end + 1, end + 4);
      end += 4;
    }
    if (digits.length === end - from) return from;
    this.#emit(digits, from, end, "word");
    this.position++;
    return end;
  }

  /** Exactly three digits. */
  #isDigitGroup(from: number): boolean {
    for (let i = from; i < from + 3; i++) if (this.#classes[i] !== DIGIT) return false;
    const next = this.#classes[from + 3];
    return next !== DIGIT && next !== LOWER && next !== UPPER;
  }

  /** From the first word of a name or path: its parts, its segments and the whole. */
  #name(from: number): number {
    const { parts, segments, end } = readName(this.#text, this.#classes, from);
    const first = this.position;
    const kind = parts.length > 2 ? "part" : "word";
    for (let i = 0; i < parts.length; i += 2) {
      this.#part(parts[i] as number, parts[i + 1] as number, kind);
      this.position++;
    }
    const next = this.position;
    for (let i = 0; i < segments.length; i += 3) {
      const firstPart = segments[i] as number;
      const count = (segments[i + 3] ?? parts.length / 2) - firstPart;
      this.position = first + firstPart;
      this.#whole(segments[i + 1] as number, segments[i + 2] as number, count);
    }
    this.position = first;
    if (segments.length > 3) this.#whole(from, end, parts.length / 2);
    if (kind === "word" && end - from > SHORT_HASH_LENGTH && isHash(this.#text, from, end)) {
      // A commit may be named by its whole hash or by its first digits.
      this.#emit(this.#text.slice(from, from + SHORT_HASH_LENGTH), from, end, "part");
    }
    this.position = next;
    return end;
  }

  #part(from: number, end: number, kind: TermKind): void {
    if (this.#isStemmed(from, end)) this.#stemmed(from, end, kind);
    else this.#emit(this.#formOf(this.#text.slice(from, end), from, end), from, end, kind);
  }

  /** Hashes and words with digits are never stemmed. */
  #isStemmed(from: number, end: number): boolean {
    const classes = this.#classes;
    if (classes[from] === DIGIT || classes[end - 1] === DIGIT) return false;
    return !this.#isPlural(from, end) && !isHash(this.#text, from, end);
  }

  /** `IDs`, `URLs`; parts of a name begin with one capital. */
  #isPlural(from: number, end: number): boolean {
    const classes = this.#classes;
    if (end - from <= 2 || classes[end - 2] !== UPPER || classes[end - 1] !== LOWER) return false;
    return this.#text[end - 1] === "s";
  }

  #formOf(text: string, from: number, end: number): string {
    if (this.#classes[from] === DIGIT) return this.#morphology.number(text);
    if (this.#classes[end - 1] === DIGIT || isHash(text, 0, text.length)) return text;
    return this.#morphology.acronyms(text);
  }

  #stemmed(from: number, end: number, kind: TermKind): void {
    const { stem } = this.#morphology;
    if (this.#words === undefined || end - from > MAX_TERM_LENGTH) {
      this.#emit(stem(this.#text.slice(from, end)), from, end, kind);
    } else {
      this.#words.word(this.#folded, from, end, this.position, stem);
    }
  }

  #whole(from: number, end: number, parts: number): void {
    if (parts < 2) return;
    const whole = joinName(this.#text, this.#classes, from, end);
    if (whole.length > MAX_TERM_LENGTH) return;
    this.#emit(whole, from, end, "whole");
    if (isVersion(this.#text, this.#classes, from)) {
      this.#emit(whole.slice(1), from, end, "whole");
    }
  }

  /** A run of letters of a dense script. */
  #dense(from: number): number {
    let at = from;
    let end = this.#letterEnd(at);
    while (this.#classes[end] === DENSE) {
      const next = this.#letterEnd(end);
      this.#emit(this.#text.slice(at, next), at, next, "pair");
      this.position++;
      at = end;
      end = next;
    }
    this.#emit(this.#text.slice(at, end), at, end, at === from ? "single" : "last");
    this.position++;
    return end;
  }

  #symbol(from: number): number {
    const end = this.#letterEnd(from);
    this.#emit(this.#text.slice(from, end), from, end, "word");
    this.position++;
    return end;
  }

  /** The end of the dense letter or symbol at `from`, with the marks that belong to it. */
  #letterEnd(from: number): number {
    let end = from + 1;
    while (this.#classes[end] === TAIL) end++;
    return end;
  }

  #emit(term: string, from: number, end: number, kind: TermKind): void {
    const start = this.#starts === undefined ? from : (this.#starts[from] as number);
    const stop = this.#ends === undefined ? end : (this.#ends[end - 1] as number);
    const kept = term.length > MAX_TERM_LENGTH ? cutTerm(term) : term;
    this.#sink(kept, this.position, start, stop, kind);
  }
}
