/**
 * Makes text valid for every provider.
 *
 * A lone surrogate, left by a cut between UTF-16 units, makes this and every later request invalid
 * JSON for strict parsers. Some providers refuse text without a visible character.
 */

/** `text` with lone surrogates replaced; null if it has no visible character. */
export function cleanText(text: string): string | null {
  return isBlank(text) ? null : text.toWellFormed();
}

/** Whether `text` has no visible character. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

// Controls count as blank: some providers test by Python's white space, which has more of them than
// JavaScript's.
const BLANK = /^[\s\p{Cc}]*$/u;
