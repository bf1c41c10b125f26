/**
 * The tokeniser for what most text is: words of plain letters, with spaces and full stops between.
 *
 * Such words are read where they stand, without folding the text. Whatever else a text has (names,
 * numbers, dates, contractions) is left to the other tokeniser, one token at a time, so both give
 * the same terms at the same positions.
 */

import { ASCII_CLASSES, DIGIT, JOINER, SEPARATOR, SLASH } from "./character.ts";
import { fold } from "./fold.ts";
import type { Morphology } from "./morphology.ts";
import { MAX_PACKED_LENGTH, PackedWord } from "./packed-word.ts";
import { type PlainWords, Scanner, type TokenSink } from "./tokenize.ts";

/** The longest text that is read so, in UTF-16 units. */
const MAX_LENGTH = 64 * 1024;
/** UTF-8 takes three bytes a unit at most; behind the text there is room for two spaces. */
const bytes = new Uint8Array(3 * MAX_LENGTH + 2);
const ENCODER = new TextEncoder();
const word = new PackedWord();

const SPACE = 0x20;
const [HASH, PLUS] = [0x23, 0x2b];
const [LOWER_A, LOWER_Z] = [0x61, 0x7a];

/** Takes words as `PlainWords` does, and packed ones. The next word is packed into the same object. */
export interface PackedWordSink extends PlainWords {
  packed(word: PackedWord, position: number, stemAnew: (word: string) => string): void;
}

/** As `tokenize`. Undefined if the text is not plain: then nothing was fed to anybody. */
export function tokenizePlain(
  text: string,
  from: number,
  morphology: Morphology,
  sink: TokenSink,
  words: PackedWordSink,
): number | undefined {
  const { length } = text;
  if (length > MAX_LENGTH || ENCODER.encodeInto(text, bytes).written !== length) return undefined;
  bytes[length] = SPACE;
  bytes[length + 1] = SPACE;
  const { stemAnew } = morphology;
  word.text = text;
  let scanner: Scanner | undefined;
  let position = from;
  for (let i = 0; i < length; ) {
    const kind = ASCII_CLASSES[bytes[i] as number] as number;
    if (kind === SEPARATOR || kind > DIGIT) {
      i++;
      continue;
    }
    const end = kind === DIGIT ? i : readWord(i);
    if (end > i) {
      words.packed(word, position++, stemAnew);
      i = end;
      continue;
    }
    scanner ??= new Scanner(fold(text), from, morphology, sink, words);
    scanner.position = position;
    i = scanner.token(i);
    position = scanner.position;
  }
  return position;
}

/** Reads the word that begins with the letter at `from`. Gives its end, or `from` if it is no plain one. */
function readWord(from: number): number {
  let part = (bytes[from] as number) & 0x1f;
  let end = from + 1;
  for (; end < from + 6; end++) {
    const letter = bytes[end] as number;
    if (letter < LOWER_A || letter > LOWER_Z) break;
    part = (part << 5) | (letter & 0x1f);
  }
  word.first = part;
  part = 0;
  if (end === from + 6) {
    for (; end < from + 12; end++) {
      const letter = bytes[end] as number;
      if (letter < LOWER_A || letter > LOWER_Z) break;
      part = (part << 5) | (letter & 0x1f);
    }
  }
  word.second = part;
  part = 0;
  if (end === from + 12) {
    for (; end < from + MAX_PACKED_LENGTH; end++) {
      const letter = bytes[end] as number;
      if (letter < LOWER_A || letter > LOWER_Z) break;
      part = (part << 5) | (letter & 0x1f);
    }
  }
  word.third = part;
  word.from = from;
  word.end = end;
  return isEnd(from, end) ? end : from;
}

/** Whether a plain word may end there: nothing follows that would make it a part of something. */
function isEnd(from: number, end: number): boolean {
  const next = bytes[end] as number;
  const kind = ASCII_CLASSES[next] as number;
  // `c#`, `c++`
  if (kind === SEPARATOR) return end > from + 1 || (next !== HASH && next !== PLUS);
  // A full stop behind which nothing goes on.
  return (
    (kind === JOINER || kind === SLASH) && ASCII_CLASSES[bytes[end + 1] as number] === SEPARATOR
  );
}
