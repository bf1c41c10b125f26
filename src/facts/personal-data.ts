/**
 * Personal data in a statement, replaced: what identifies a person and has a form that can be checked.
 *
 * Each kind is found by a generous pattern and then judged in code: card numbers and bank accounts by
 * their check digits, telephone numbers by how they begin, addresses of machines by their parts.
 */

import { REDACTED } from "../search/document/redact.ts";

/** Doing it twice changes nothing more. */
export function redactPersonal(text: string): string {
  return KINDS.reduce(
    (masked, { pattern, isOne }) =>
      masked.replace(pattern, (found) => (isOne(found) ? REDACTED : found)),
    text,
  );
}

interface Kind {
  readonly pattern: RegExp;
  readonly isOne: (found: string) => boolean;
}

/** In the order in which they are looked for: a card number is not taken for two telephones. */
const KINDS: readonly Kind[] = [
  {
    pattern: /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
    isOne: () => true,
  },
  { pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b/gi, isOne: isIban },
  { pattern: /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]\d)/g, isOne: isCard },
  { pattern: /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]\d)/g, isOne: isIpv4 },
  { pattern: /(?<![\w:.])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:])/gi, isOne: isIpv6 },
  { pattern: /(?<![\w.])(?:\+|\(|\d)[\d\s().\-/]{6,24}\d(?![\w.]\d)/g, isOne: isPhone },
];

/** ISO 13616: moved and spelt as digits, it leaves 1 when divided by 97. */
function isIban(found: string): boolean {
  const text = found.replaceAll(" ", "").toUpperCase();
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Luhn: each second digit from the right is doubled, and the sum ends in 0. */
function isCard(found: string): boolean {
  const digits = found.replace(/\D/g, "");
  if (/^0+$/.test(digits)) return false;
  let sum = 0;
  [...digits].reverse().forEach((character, i) => {
    const digit = Number(character) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  });
  return sum % 10 === 0;
}

/** A machine that talks to itself is nobody's. */
function isIpv4(found: string): boolean {
  const parts = found.split(".").map(Number);
  return parts.every((part) => part <= 255) && parts[0] !== 127 && found !== "0.0.0.0";
}

/** Eight groups, or fewer and one gap. Without a digit it is a name in somebody's code. */
function isIpv6(found: string): boolean {
  if (!/\d/.test(found) || found === "::1") return false;
  const gaps = found.split("::").length - 1;
  const groups = found.split(":").filter((group) => group !== "").length;
  return gaps === 1 ? groups < 8 : gaps === 0 && groups === 8;
}

/** In the international form, with a trunk 0 or an area in brackets, or as 555-123-4567. */
function isPhone(found: string): boolean {
  const digits = found.replace(/\D/g, "");
  if (digits.length < 8 || digits.length > 15 || DATE.test(found)) return false;
  if (/^(?:\+|00)/.test(found)) return true;
  if (/^(?:0|\()/.test(found)) return digits.length >= 9;
  return /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(found);
}

const DATE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/;
