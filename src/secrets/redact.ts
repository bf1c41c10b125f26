/**
 * Masks secrets in text. The index never sees them, and surfaces mask them; the log keeps the
 * original.
 *
 * Rules are tables: keys that are known by their shape (`known-keys.ts`), and secrets that are known
 * by what stands before them (`named-secrets.ts`). Their patterns take linear time, and code
 * then judges what they found.
 */

import { CARD_NUMBER, isCardNumber } from "./card-number.ts";
import { KNOWN_KEY, keyRuns } from "./known-keys.ts";
import {
  type Evidence,
  evidenceOf,
  hintedLines,
  NAMED_RULES,
  NO_SECRET,
  SHORT_NAME,
} from "./named-secrets.ts";

/**
 * Characters after a cut that are masked with it, so that no part of a secret is shown. Longer than
 * any secret except a PEM.
 */
export const LONGEST_SECRET = 4_096;

export const REDACTED = "[redacted]";

interface Redaction {
  readonly text: string;
  /** The number of replaced secrets. */
  readonly count: number;
}

/** Replaces the secrets in `text`. Idempotent. */
export function redact(text: string): Redaction {
  let count = 0;
  const mask = (kept = "") => {
    count++;
    return kept + REDACTED;
  };

  // Each kind is searched only where a cheaper test found that it may be.
  let masked = text;
  if (text.includes("PRIVATE KEY") || text.includes("Private-Lines")) {
    masked = withoutPrivateKeys(masked, mask);
  }
  const own = ownKeys();
  if (own !== null) masked = masked.replace(own, () => mask());
  masked = replacePieces(masked, keyRuns(masked), (found) => maskKeys(found, mask));
  if (HAS_CARD.test(masked)) {
    masked = masked.replace(CARD_NUMBER, (found) => (isCardNumber(found) ? mask() : found));
  }
  masked = replacePieces(masked, hintedLines(masked), (found) => withoutNamedSecrets(found, mask));
  return { text: masked, count };
}

/** Undefined until the first text; null: the user names none. */
let own: RegExp | null | undefined;

/**
 * The user's own secrets, by what they begin with. From the environment, which every thread of a
 * store inherits; the command line puts the configuration's there.
 */
function ownKeys(): RegExp | null {
  if (own !== undefined) return own;
  // Browsers have no process.
  const { process } = globalThis as { process?: { env: Readonly<Record<string, string>> } };
  const prefixes = (process?.env["BACKSCROLL_SECRETS"] ?? "")
    .split(",")
    .filter((prefix) => prefix.length >= 3)
    .map((prefix) => prefix.replace(/\W/g, "\\$&"));
  own =
    prefixes.length === 0
      ? null
      : new RegExp(`(?<![\\w-])(?:${prefixes.join("|")})[\\w.~+/=-]{4,4096}`, "g");
  return own;
}

/** `text` with each piece replaced; `bounds` are the pieces' starts and ends in turn. */
function replacePieces(
  text: string,
  bounds: readonly number[],
  replace: (piece: string) => string,
): string {
  let made = "";
  let from = 0;
  for (let i = 0; i < bounds.length; i += 2) {
    const [start = 0, end = 0] = [bounds[i], bounds[i + 1]];
    const piece = text.slice(start, end);
    const replaced = replace(piece);
    if (replaced === piece) continue;
    made += text.slice(from, start) + replaced;
    from = end;
  }
  return from === 0 ? text : made + text.slice(from);
}

function withoutNamedSecrets(text: string, mask: (kept: string) => string): string {
  let masked = text;
  const lower = text.toLowerCase();
  for (const { pattern, evidence, hints } of NAMED_RULES) {
    if (!hints.some((hint) => lower.includes(hint))) continue;
    masked = masked.replace(pattern, (found, ...rest) => {
      const groups = rest.at(-1) as NamedGroups;
      const [offset, whole] = rest.slice(-3, -1) as [number, string];
      const { before = "", quote = "" } = groups;
      const value = groups.quoted ?? groups.bare ?? "";
      const name = groups.name ?? "";
      const place = { name, quote, value, whole, start: offset, end: offset + found.length };
      if (!isSecret(place, evidence ?? evidenceOf(name))) return found;
      return mask(before + quote) + found.slice(before.length + quote.length + value.length);
    });
  }
  return masked;
}

interface NamedGroups {
  readonly before?: string;
  readonly name?: string;
  readonly quote?: string;
  readonly quoted?: string;
  readonly bare?: string;
}

interface Place {
  readonly name: string;
  readonly quote: string;
  readonly value: string;
  /** The text, and where the match starts and ends in it. */
  readonly whole: string;
  readonly start: number;
  readonly end: number;
}

/** `value` redacted, or replaced as a whole if `name` marks a secret: `password`. */
export function redactNamed(name: string, value: string): string {
  const masked = redact(value).text;
  if (masked !== value || name === "" || value === "") return masked;
  return redact(`${name}: "${value}"`).count > 0 ? REDACTED : value;
}

const HAS_DIGIT = /\d/;

/** Keys that may have only letters. */
const WITHOUT_DIGITS = /AKIA|ASIA|ABIA|ACCA|hf_|SG\.|eyJ/;

/** Part of every card number. */
const HAS_CARD = /\d{4}[ \u00a0\u202f-]?\d{4}/;

function maskKeys(text: string, mask: () => string): string {
  if (!HAS_DIGIT.test(text) && !WITHOUT_DIGITS.test(text)) return text;
  return text.replace(KNOWN_KEY, (key, ...rest) => {
    const { digit } = rest.at(-1) as { digit?: string };
    return isKnownKey(key, digit !== undefined) ? mask() : key;
  });
}

/** Random, and not a word with the same prefix (`sk-learn`, `npm_config_registry`). */
function isKnownKey(key: string, needsDigit: boolean): boolean {
  if (key.startsWith("hf_")) return /[A-Z\d]/.test(key);
  if (/^A[KSB3C][IT][A-Z0-9]/.test(key)) return key.length === 20;
  return !needsDigit || HAS_DIGIT.test(key);
}

function isSecret({ name, quote, value, whole, start, end }: Place, evidence: Evidence): boolean {
  if (value.startsWith("[redacted")) return false;
  if (NO_SECRET.test(value)) return evidence === "any" && PASSWORD_HASH.test(value);
  if (evidence === "any") return true;
  if (SHORT_NAME.test(name) && !isOwnWord(whole, start, name)) return false;
  // `PASS: TestName` is a result, `DB_PASS: …` is not.
  if (
    quote === "" &&
    SHORT_NAME.test(name) &&
    /:\s*$/.test(whole.slice(start, end - value.length)) &&
    !/[_-]/.test(whole[start - 1] ?? "")
  )
    return false;
  const next = whole[end] ?? "";
  // A call, an index or a member: code that yields a secret.
  if (quote === "" && (next === "(" || next === "[" || next === "{")) return false;
  if (quote === "" && /^[a-z_]\w*(?:\.\w+)+$/i.test(value) && !/\d/.test(value)) return false;
  if (evidence === "key")
    return isRandom(value) && !NO_SECRET_KEY.test(whole.slice(Math.max(0, start - 16), start));
  if (evidence === "token")
    return (
      value.length >= 8 &&
      (quote !== "" ? !isWords(value) : HAS_DIGIT.test(value)) &&
      !/^\d+$/.test(value)
    );
  if (value.length < 4) return false;
  if (quote !== "" || !/^[a-z]+$/i.test(value)) return true;
  // A bare word: in a file of settings, not in code or prose.
  const isTight = /=$|[^"'\s]>$/.test(
    whole.slice(Math.max(0, end - value.length - 2), end - value.length),
  );
  return (
    isTight ||
    (whole[end - value.length - 1] === " " && /[\s\n]|^$/.test(next) && isLineStart(whole, start))
  );
}

/** A placeholder begins with a dollar sign too. */
const PASSWORD_HASH = /^\$[\w-]{1,16}\$/;

/** Whether a short name is a word, or the last word of an identifier: `DB_PASS`, `dbPass`. */
function isOwnWord(text: string, start: number, name: string): boolean {
  const before = text[start - 1] ?? "";
  if (!/[A-Za-z]/.test(before)) return true;
  return /[a-z]/.test(before) && /^[A-Z]/.test(name);
}

/** Whether only an indent, `- ` or `export` and an identifier precede. */
function isLineStart(text: string, start: number): boolean {
  const line = text.slice(Math.max(text.lastIndexOf("\n", start - 1) + 1, start - 64), start);
  return /^\s{0,32}(?:- |export )?[\w.-]{0,40}["']?$/.test(line);
}

/** A name of several words in one case, as of a test or a setting: `my-test-token`. */
function isWords(value: string): boolean {
  return /^[a-z]+(?:[-_. ][a-z]+)+$/i.test(value) || (/^[a-z]+$/.test(value) && value.length < 10);
}

/** Letters and digits without a separator of words, with many different characters. */
function isRandom(given: string): boolean {
  const value = given.replace(/^base64:/, "");
  if (value.length < 16 || !HAS_DIGIT.test(value) || !/[A-Za-z]/.test(value)) return false;
  return (
    /^[\w+/=%-]+$/.test(value) && !/[a-z]{6}[-_][a-z]{3}/i.test(value) && new Set(value).size >= 8
  );
}

/** Keys that are no secrets: of a cache, a table, a pair that is published. */
const NO_SECRET_KEY =
  /(?:cache|public|primary|foreign|sort|partition|react|row|item|object|s3|dedupe|idempotency|cursor|index|(?<!azure_)storage|host|publishable)[\s_-]?$/i;

const BEGIN_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,4}(?=\r?\n|\\n)/;
const END_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?=Private-MAC:)/;
/** Characters of a key whose end is missing, JSON's `\n` included. */
const KEY_BODY = /^[\w+/=\s\\:,-]*/;

function withoutPrivateKeys(text: string, mask: () => string): string {
  let masked = "";
  let rest = text;
  // Without a further end, no later start searches for one.
  let ended = true;
  for (;;) {
    const begin = BEGIN_KEY.exec(rest);
    if (begin === null) return masked + rest;
    const body = rest.slice(begin.index + begin[0].length);
    const end: RegExpExecArray | null = ended ? END_KEY.exec(body) : null;
    ended = end !== null;
    masked += rest.slice(0, begin.index) + mask();
    rest = body.slice(
      end === null ? (KEY_BODY.exec(body)?.[0].length ?? 0) : end.index + end[0].length,
    );
  }
}
