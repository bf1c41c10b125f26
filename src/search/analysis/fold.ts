/**
 * Folding: normalises text for comparison, with offsets back to the original.
 *
 * NFKC, lower case, and no accents on Latin, Greek and Cyrillic letters. Marks of other scripts are
 * letters (Indic vowel signs, kana voicing) and stay. Text is folded character by character with
 * its marks, so that every folded code unit has its original range.
 */

import {
  APOSTROPHE,
  ASCII_CLASSES,
  classify,
  continuesCharacter,
  DENSE,
  DIGIT,
  JOINER,
  LOWER,
  SEPARATOR,
  TAIL,
  UPPER,
} from "./character.ts";

export interface Folded {
  readonly text: string;
  /** A class per code unit of `text`; case is the original's. */
  readonly classes: Uint8Array;
  /** The UTF-16 code units of `text`: reading them here takes half the time of `charCodeAt`. */
  readonly letters: Uint16Array;
  /** The original range of each code unit; absent if folding moved none. */
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
}

/** Reused offset arrays: allocating one per text would cost more than filling it. */
const SCRATCH_LENGTH = 64 * 1024;
const classScratch = new Uint8Array(SCRATCH_LENGTH);
const letterScratch = new Uint16Array(SCRATCH_LENGTH);

/** The classes and letters are valid until the next call. */
export function fold(text: string): Folded {
  const { length } = text;
  const classes =
    length <= SCRATCH_LENGTH ? classScratch.subarray(0, length) : new Uint8Array(length);
  const letters = length <= SCRATCH_LENGTH ? letterScratch : new Uint16Array(length);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128) return foldUnicode(text);
    const kind = ASCII_CLASSES[code] as number;
    classes[i] = kind;
    letters[i] = kind === UPPER ? code + 32 : code;
  }
  return { text: text.toLowerCase(), classes, letters, starts: undefined, ends: undefined };
}

function foldUnicode(text: string): Folded {
  const builder = new FoldedBuilder(text.length);
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    let end = i + 1;
    if (code < 128 && !continuesCharacter(text.charCodeAt(end))) {
      while (end < text.length && text.charCodeAt(end) < 128) end++;
      // The last one may have a mark; then it belongs to the next run.
      if (end < text.length && end > i + 1 && continuesCharacter(text.charCodeAt(end))) end--;
      builder.addAscii(text, i, end);
    } else {
      if (isLead(code) && isTrail(text.charCodeAt(end))) end++;
      while (end < text.length && continuesCharacter(text.charCodeAt(end))) end++;
      const single = end === i + 1;
      builder.addCharacter(single ? foldSingle(code) : foldCharacter(text.slice(i, end)), i, end);
    }
    i = end;
  }
  return builder.finish();
}

interface FoldedCharacter {
  readonly text: string;
  readonly classes: readonly number[];
}

class FoldedBuilder {
  #text = "";
  #classes: Uint8Array;
  /** Created once an offset differs; until then code unit i is code unit i of the original. */
  #starts: Int32Array | undefined;
  #ends: Int32Array | undefined;
  #length = 0;

  constructor(length: number) {
    this.#classes = new Uint8Array(length);
  }

  addAscii(text: string, from: number, to: number): void {
    this.#reserve(to - from);
    const shift = this.#length - from;
    for (let i = from; i < to; i++) {
      this.#classes[i + shift] = ASCII_CLASSES[text.charCodeAt(i)] as number;
    }
    if (this.#starts !== undefined && this.#ends !== undefined) {
      for (let i = from; i < to; i++) {
        this.#starts[i + shift] = i;
        this.#ends[i + shift] = i + 1;
      }
    }
    this.#length += to - from;
    this.#text += text.slice(from, to).toLowerCase();
  }

  addCharacter(folded: FoldedCharacter, start: number, end: number): void {
    const size = folded.text.length;
    this.#reserve(size);
    if (size !== 1 || end !== start + 1) this.#move();
    for (let i = 0; i < size; i++) {
      this.#classes[this.#length + i] = folded.classes[i] as number;
      if (this.#starts !== undefined) this.#starts[this.#length + i] = start;
      if (this.#ends !== undefined) this.#ends[this.#length + i] = end;
    }
    // A character that folds to the empty string belongs to its predecessor.
    if (size === 0 && this.#length > 0 && this.#ends !== undefined) {
      this.#ends[this.#length - 1] = end;
    }
    this.#length += size;
    this.#text += folded.text;
  }

  finish(): Folded {
    const text = this.#text;
    const letters = new Uint16Array(text.length);
    for (let i = 0; i < text.length; i++) letters[i] = text.charCodeAt(i);
    return {
      text,
      classes: this.#classes.subarray(0, this.#length),
      letters,
      starts: this.#starts,
      ends: this.#ends,
    };
  }

  #move(): void {
    if (this.#starts !== undefined) return;
    this.#starts = Int32Array.from(this.#classes, (_, i) => i);
    this.#ends = Int32Array.from(this.#classes, (_, i) => i + 1);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#classes.length) return;
    const size = (this.#length + more) * 2;
    const classes = new Uint8Array(size);
    classes.set(this.#classes);
    this.#classes = classes;
    this.#starts &&= grown(this.#starts, size);
    this.#ends &&= grown(this.#ends, size);
  }
}

function grown(offsets: Int32Array, size: number): Int32Array {
  const larger = new Int32Array(size);
  larger.set(offsets);
  return larger;
}

/** By code unit; at most 65,536 of them exist. */
const singles = new Map<number, FoldedCharacter>();

function foldSingle(code: number): FoldedCharacter {
  let folded = singles.get(code);
  if (folded === undefined) {
    folded = foldCharacter(String.fromCharCode(code));
    singles.set(code, folded);
  }
  return folded;
}

/** Ignored: soft hyphen, joiners, variation selectors, byte order marks, emoji skin tones. */
const INVISIBLE = /^(?:\u200D|[\u00AD\u200C\u2060\uFEFF]|[\uFE00-\uFE0F]|\p{Emoji_Modifier})+$/u;
/** Signs that compatibility mapping would attach to a word as letters. */
const TRADE_SIGN = /^[©®™℠]/u;
const HAS_ACCENTS = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]/u;
const ACCENT = /[\u0300-\u036F]/g;

/** Letters without a decomposition, as people type them in ASCII. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ς: "σ",
};

function foldCharacter(character: string): FoldedCharacter {
  if (INVISIBLE.test(character)) return { text: "", classes: [] };
  const code = character.charCodeAt(0);
  if (code === 0x2019 || code === 0x02bc) return { text: "'", classes: [APOSTROPHE] };
  if (code === 0x2010 || code === 0x2011) return { text: "-", classes: [JOINER] };
  if (TRADE_SIGN.test(character)) return { text: " ", classes: [SEPARATOR] };

  let text = "";
  const classes: number[] = [];
  for (const composed of character.normalize("NFKC")) {
    const kind = classify(composed);
    if (kind === LOWER && /^[\u0300-\u036F]$/.test(composed)) continue;
    const folded = foldLetter(composed);
    for (let i = 0; i < folded.length; i++) classes.push(classInside(kind, classes.at(-1), i > 0));
    text += folded;
  }
  return { text, classes };
}

/** One folded character is never split as a name: `㎿` is one word. */
function classInside(kind: number, before: number | undefined, sameLetter: boolean): number {
  if (sameLetter && kind >= DENSE) return TAIL;
  const afterLetter = before === LOWER || before === UPPER;
  return afterLetter && (kind === UPPER || kind === DIGIT) ? LOWER : kind;
}

function foldLetter(letter: string): string {
  const lower = letter.toLowerCase();
  if (!HAS_ACCENTS.test(lower)) return lower;
  // A distinct letter in its alphabets, unlike ё, which is often written е.
  if (lower === "й") return lower;
  const bare = lower.normalize("NFD").replace(ACCENT, "");
  return PLAIN_LETTERS[bare] ?? bare;
}

function isLead(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isTrail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
