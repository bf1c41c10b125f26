/**
 * Payment card numbers: by issuer prefix, length and Luhn check digit.
 *
 * One number in ten has a valid check digit. Times and most ids have no issuer prefix, so it is
 * checked first.
 */

/**
 * 14 to 16 or 19 digits in a row, or in printed groups, with spaces that may break a line, or
 * hyphens. Not part of a longer number or word, of a fraction, or of a path; JSON escapes such as
 * `\n` are not part of a word. Each digit is scanned once.
 */
export const CARD_NUMBER: RegExp =
  /(?:(?<![\w./+-])|(?<=\\[bfnrt]))(?:\d{14,16}|\d{19}|\d{4}([ \u00a0\u202f-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ \u00a0\u202f-])\d{6}\2\d{4,5})(?![\w/+-]|\.\d)/g;

/** Issuer prefixes (ISO/IEC 7812) and lengths. */
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

/** The Luhn check: every second digit from the right doubled, the sum divisible by 10. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
