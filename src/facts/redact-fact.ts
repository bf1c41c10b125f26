/** Redacts facts. Every fact passes through here before it is stored. */

import { isPlainObject, type JsonObject } from "../model/json.ts";
import { passesLuhn } from "../secrets/card-number.ts";
import { REDACTED, redact, redactNamed } from "../secrets/redact.ts";
import type { ProposedFact } from "./fact-extractor.ts";

/** Secrets are always removed; `personal` also removes identifying data. */
export type FactRedaction = "secrets" | "personal";

/** Reads `facts.redact` of a session's metadata. An unknown value redacts the most. */
export function factRedactionOf(metadata: JsonObject): FactRedaction {
  const { facts } = metadata;
  const wanted = isPlainObject(facts) ? facts["redact"] : undefined;
  const isOff = wanted === undefined || wanted === null || wanted === false;
  return isOff || wanted === "secrets" ? "secrets" : "personal";
}

/** The redacted fact; null if no statement is left. */
export function redactFact<Kept extends ProposedFact>(
  fact: Kept,
  redaction: FactRedaction,
): Kept | null {
  const clean = (text: string) => {
    const { text: masked } = redact(text);
    return redaction === "personal" ? redactPersonal(masked) : masked;
  };
  // `subject` and `predicate` may show that `object` is a secret.
  const names = [fact.predicate.replace(COPULA, ""), fact.subject];
  const isNamed = names.some((name) => redactNamed(asName(name), fact.object) === REDACTED);
  const kept: Kept = {
    ...fact,
    subject: clean(fact.subject),
    predicate: clean(fact.predicate),
    object: isNamed ? REDACTED : clean(fact.object),
  };
  const isEmpty = [kept.subject, kept.predicate, kept.object].some(isOnlyMarks);
  return isEmpty ? null : kept;
}

/** "password is" names a password as "password" does. */
const COPULA = /(?<![\s_])[\s_]+(?:is|are|was|set to|equals)$/i;

/** "API key" as a program's identifier, the form in which secrets are recognised. */
function asName(text: string): string {
  return text.replace(/\s+/g, "_");
}

function isOnlyMarks(text: string): boolean {
  return text.includes(REDACTED) && !/[\p{L}\p{N}]/u.test(text.replaceAll(REDACTED, ""));
}

/**
 * Masks personal data of a verifiable form.
 *
 * Longest match: at each possible start every end is tried, the farthest first, and validated in
 * code: card numbers and bank accounts by check digits, telephone numbers by prefix, IP addresses
 * by parts. So adjacent text cannot hide a match.
 */

/** Idempotent. */
export function redactPersonal(text: string): string {
  return KINDS.reduce(maskKind, text.replace(EMAIL, REDACTED));
}

const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;

interface Kind {
  /** Matches a possible start. */
  readonly start: RegExp;
  readonly longest: number;
  readonly isOne: (found: string) => boolean;
}

/** In order of search: a card number is not taken for two telephone numbers. */
const KINDS: readonly Kind[] = [
  { start: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}/giu, longest: 42, isOne: isIban },
  { start: /(?<![\w.])\d/g, longest: 37, isOne: isCard },
  { start: /(?<!\w|\d\.)\d/g, longest: 15, isOne: isIpv4 },
  { start: /(?<![\w:.])(?:[\da-f]{1,4}:|::)/gi, longest: 39, isOne: isIpv6 },
  { start: /(?<!\w|\d\.)[+(\d]/g, longest: 26, isOne: isPhone },
];

function maskKind(text: string, { start, longest, isOne }: Kind): string {
  let masked = "";
  let at = 0;
  for (const { index } of text.matchAll(start)) {
    if (index < at) continue;
    const end = endsFrom(text, index, longest).find((each) => isOne(text.slice(index, each)));
    if (end === undefined) continue;
    masked += text.slice(at, index) + REDACTED;
    at = end;
  }
  return masked + text.slice(at);
}

/** The ends of words and numbers after `start`, farthest first. */
function endsFrom(text: string, start: number, longest: number): number[] {
  const ends: number[] = [];
  for (let end = Math.min(text.length, start + longest); end > start; end--) {
    if (!GOES_ON.test(text.slice(end, end + 2))) ends.push(end);
  }
  return ends;
}

const GOES_ON = /^(?:[\p{L}\p{N}]|[.:]\d)/u;

/** ISO 13616 (mod 97): rearranged and spelt as digits, it leaves 1 modulo 97. */
function isIban(found: string): boolean {
  if (!/^[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}$/i.test(found)) return false;
  const text = found.replaceAll(" ", "").toUpperCase();
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** A long number with a valid Luhn digit, of any issuer. */
function isCard(found: string): boolean {
  if (!/^\d(?:[ \u00a0\u202f-]?\d){12,18}$/.test(found) || /^[0 -]+$/.test(found)) return false;
  return passesLuhn(found.replace(/\D/g, ""));
}

/** Loopback addresses identify no person. */
function isIpv4(found: string): boolean {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(found)) return false;
  const parts = found.split(".").map(Number);
  return parts.every((part) => part <= 255) && parts[0] !== 127 && found !== "0.0.0.0";
}

/** Eight groups, or fewer and one gap. Without a digit it is a qualified name in code. */
function isIpv6(found: string): boolean {
  if (!/^[\da-f:]*[\da-f]$|^[\da-f:]*::$/i.test(found)) return false;
  const parts = found.split(":");
  if (parts.some((part) => part.length > 4) || !/\d/.test(found) || found === "::1") return false;
  const gaps = found.split("::").length - 1;
  const groups = parts.filter((part) => part !== "").length;
  return gaps === 1 ? groups < 8 && !found.includes(":::") : gaps === 0 && groups === 8;
}

/** In the international form, with a trunk 0 or an area in brackets, or as 555-123-4567. */
function isPhone(found: string): boolean {
  if (!/^[+(\d][\d\s().\-/]{6,24}\d$/.test(found) || DATE.test(found)) return false;
  const digits = found.replace(/\D/g, "").length;
  if (digits < 8 || digits > 15) return false;
  if (/^(?:\+|00)/.test(found)) return true;
  if (/^(?:0|\()/.test(found)) return digits >= 9;
  return /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(found);
}

const DATE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/;
