/**
 * Numbers of payment cards: by their issuers' first digits and lengths, and by the check digit.
 *
 * The check digit alone is right for one number in ten. Times and most ids begin as no card does, so
 * the issuer's digits come first.
 */

/**
 * 14 to 16 or 19 digits in a row, or in groups as they are printed, with spaces that may break a line or
 * not, or hyphens. Not a piece of a longer number
 * or word, of a fraction, or of a path; `\n` and the like, as JSON writes them, are no part of a word. Each
 * digit is looked at once.
 */
export const CARD_NUMBER: RegExp =
  /(?:(?<![\w./+-])|(?<=\\[bfnrt]))(?:\d{14,16}|\d{19}|\d{4}([ \u00a0\u202f-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ \u00a0\u202f-])\d{6}\2\d{4,5})(?![\w/+-]|\.\d)/g;

/** What the cards of each issuer begin with (ISO/IEC 7812), and how many digits they have. */
const ISSUERS: readonly { readonly start: RegExp; readonly lengths: readonly number[] }[] = [
  // Visa
  { start: /^4/, lengths: [16, 19] },
  // Mastercard: 51 to 55, and 2221 to 2720
  { start: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  // American Express
  { start: /^3[47]/, lengths: [15] },
  // Discover
  { start: /^(?:6011|64[4-9]|65)/, lengths: [16, 19] },
  // JCB: 3528 to 3589
  { start: /^35(?:2[89]|[3-8])/, lengths: [16] },
  // Diners Club
  { start: /^3(?:0[0-5]|[689])/, lengths: [14] },
  // UnionPay
  { start: /^62/, lengths: [16, 19] },
];

export function isCardNumber(found: string): boolean {
  const digits = found.replace(/\D/g, "");
  const isIssued = ISSUERS.some(
    ({ start, lengths }) => lengths.includes(digits.length) && start.test(digits),
  );
  return isIssued && passesLuhn(digits);
}

/** Each second digit from the right is doubled, and the sum of all ends in 0. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
