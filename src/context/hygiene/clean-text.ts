/**
 * Text that every provider reads.
 *
 * Half a surrogate pair, left by somebody who cut by UTF-16 unit, makes the whole request invalid
 * JSON to a strict reader, and so does it in every later request. Text without a visible character
 * is refused by some, and says nothing to the others.
 */

/** `text` with lone surrogates replaced; null if there is nothing to read in it. */
export function cleanText(text: string): string | null {
  return isBlank(text) ? null : text.toWellFormed();
}

/** Whether `text` has no character that a reader could see. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

// Controls count as blank: Python's idea of white space, by which some providers judge, has more
// of them than JavaScript's.
const BLANK = /^[\s\p{Cc}]*$/u;
