/**
 * Character classes of folded text for the tokeniser.
 *
 * ASCII uses a table. Other characters are classified once by the runtime's Unicode data and cached
 * by the folding, so that no word costs a regular expression.
 */

/** White space, punctuation, control characters: ends a word. */
export const SEPARATOR = 0;
/** A letter that is not a capital; also letters without case, and combining letters. */
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** A letter of a script without spaces, or with particles attached to the stem. */
export const DENSE = 4;
/** The continuation of a dense letter or symbol: a vowel sign, a tone, a low surrogate. */
export const TAIL = 5;
/** An emoji: a word by itself. */
export const SYMBOL = 6;
/** `_ - .` between letters or digits: joins the parts of one name. */
export const JOINER = 7;
/** `/ \ @` between names: joins the segments of one path or address. */
export const SLASH = 8;
export const APOSTROPHE = 9;

export const ASCII_CLASSES: Uint8Array = asciiClasses();

function asciiClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  const assign = (characters: string, value: number) => {
    for (const character of characters) classes[character.charCodeAt(0)] = value;
  };
  assign("abcdefghijklmnopqrstuvwxyz", LOWER);
  assign("ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER);
  assign("0123456789", DIGIT);
  assign("_-.", JOINER);
  assign("/\\@", SLASH);
  assign("'", APOSTROPHE);
  return classes;
}

const LETTER = /^[\p{L}\p{Nl}]/u;
const CAPITAL = /^[\p{Lu}\p{Lt}]/u;
/** Enclosing marks (the frame of a keycap) are not letters. */
const MARK = /^[\p{Mn}\p{Mc}]/u;
const NUMBER = /^[\p{Nd}\p{No}]/u;
/**
 * Emoji, and code points that are reserved for them. Not all of Extended_Pictographic: Unicode 17
 * took it from 671 symbols that are no emoji, such as ★, and terms must not depend on the runtime.
 */
const PICTOGRAPH = /^(?!\p{Emoji_Modifier})(?:\p{Emoji}|(?=\p{Cn})\p{Extended_Pictographic})/u;
const DENSE_SCRIPT =
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Bopomofo}]/u;

/** The class of one code point, given as a string. */
export function classify(character: string): number {
  const code = character.charCodeAt(0);
  if (code < 128) return ASCII_CLASSES[code] ?? SEPARATOR;
  if (LETTER.test(character)) {
    if (DENSE_SCRIPT.test(character)) return DENSE;
    return CAPITAL.test(character) ? UPPER : LOWER;
  }
  if (MARK.test(character)) return DENSE_SCRIPT.test(character) ? TAIL : LOWER;
  if (NUMBER.test(character)) return DIGIT;
  if (PICTOGRAPH.test(character)) return SYMBOL;
  return SEPARATOR;
}

/** Whether `code` continues the previous character, so that both are normalised together. */
export function continuesCharacter(code: number): boolean {
  if (code < 0x300) return false;
  if (code <= 0x36f) return true;
  // Hangul vowels and finals that follow their initial; half-width kana voicing.
  if ((code >= 0x1160 && code <= 0x11ff) || code === 0xff9e || code === 0xff9f) return true;
  if (code >= 0xac00 || (code >= 0x3400 && code <= 0x9fff)) return code >= 0xfe00 && isMark(code);
  return isMark(code);
}

const marks = new Map<number, boolean>();

function isMark(code: number): boolean {
  let known = marks.get(code);
  if (known === undefined) {
    known = MARK.test(String.fromCharCode(code));
    marks.set(code, known);
  }
  return known;
}
