/**
 * Masks secrets in text. The index never sees them, and surfaces mask them; the log keeps the
 * original.
 *
 * Every pattern begins with a literal and never backtracks, so the time is linear. Code then
 * validates the match.
 */

import { CARD_NUMBER, isCardNumber } from "./card-number.ts";

export const REDACTED = "[redacted]";

export interface Redaction {
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

  // Each kind is searched only if a cheaper test passes.
  let masked = text;
  if (text.includes("PRIVATE KEY")) masked = withoutPrivateKeys(masked, mask);
  const hasDigit = HAS_DIGIT.test(text);
  if (hasDigit || WITHOUT_DIGITS.test(text)) {
    masked = masked.replace(KNOWN_KEY, (key) => (looksLikeKey(key) ? mask() : key));
  }
  if (hasDigit) {
    masked = masked.replace(CARD_NUMBER, (found) => (isCardNumber(found) ? mask() : found));
  }
  if (text.includes("://") && text.includes("@")) {
    masked = masked.replace(URL_PASSWORD, (found, before: string, password: string) =>
      password === REDACTED ? found : `${mask(before)}@`,
    );
  }
  if (mayNameCredential(text, hasDigit)) {
    masked = masked
      .replace(CREDENTIALS, (found, before: string, header: string | undefined, value: string) =>
        header !== undefined || isLongWithDigit(value, 16) ? mask(before) : found,
      )
      .replace(ASSIGNMENT, (found, before: string, name: string, quote: string, value: string) =>
        isSecretValue(name, quote, value) ? mask(before) : found,
      );
  }
  return { text: masked, count };
}

/** `value` redacted, or replaced as a whole if `name` marks a secret: `password`. */
export function redactNamed(name: string, value: string): string {
  const masked = redact(value).text;
  if (masked !== value || name === "" || value === "") return masked;
  return redact(`${name}: "${value}"`).count > 0 ? REDACTED : value;
}

const HAS_DIGIT = /\d/;

function isLongWithDigit(value: string, length: number): boolean {
  return value.length >= length && HAS_DIGIT.test(value);
}

function mayNameCredential(text: string, hasDigit: boolean): boolean {
  // Fast path: most text has no assignment. A bare token has a digit.
  if (text.includes(":") || text.includes("=")) return NAMED_CREDENTIAL.test(text);
  return hasDigit && SCHEME.test(text);
}

const SCHEME = /b(?:earer|asic)\s/i;

/** The ends of the names below with an assignment; or a scheme. */
const NAMED_CREDENTIAL = /(?:key|ret|ord|swd|ase|pwd|ken)["']?\s{0,3}[:=]|(?:bearer|basic)\s/i;

/** Keys that may have only letters. */
const WITHOUT_DIGITS = /AKIA|hf_|SG\./;

/** Keys with a known prefix: at the start of a word, or after a JSON escape such as `\n`. */
const KNOWN_KEY =
  /(?:\b|(?<=\\[bfnrt]))(?:sk-[\w-]+|bs[ks]_[\w-]+|[spr]k_(?:live|test)_\w+|whsec_\w+|gh[pousr]_\w+|github_pat_\w+|glpat-[\w-]+|(?:AKIA|ASIA)[A-Z0-9]+|AIza[\w-]+|xox[a-z]-[\w-]+|xapp-[\w-]+|npm_\w+|hf_\w+|SG\.[\w.-]+|do[opr]_v1_\w+|ya29\.[\w.-]+|eyJ[\w-]+(?:\.[\w-]+)*)/g;

/** Long enough, and not a word with the same prefix (`sk-learn`, `npm_config_registry`). */
function looksLikeKey(key: string): boolean {
  if (key.startsWith("eyJ")) return key.length >= 30 && key.includes(".");
  if (/^A[KS]IA/.test(key)) return key.length === 20;
  // Random letters, mostly without a digit.
  if (key.startsWith("hf_")) return /^hf_(?=\w*[A-Z\d])[a-zA-Z\d]{30,}$/.test(key);
  if (SENDGRID_KEY.test(key)) return true;
  if (/^do[opr]_v1_/.test(key)) return /_[a-f\d]{32,}$/.test(key);
  return isLongWithDigit(key, 20);
}

/** An id and a secret. */
const SENDGRID_KEY = /^SG\.[\w-]{16,}\.[\w-]{32,}$/;

/** `postgres://user:password@host`: only the password is masked. */
const URL_PASSWORD = /(:\/\/[^\s:/@?#"'<>]{0,256}:)([^\s@/"'<>]{1,512})@/g;

/** `Authorization: Bearer …`, and a bare bearer token. */
const CREDENTIALS =
  /((authorization["']?\s{0,3}[:=]\s{0,3}["']?)?(?:\b|(?<=\\[bfnrt]))(?:bearer|basic)\s{1,3})([\w.~+/=-]{8,})/gi;

/** `DB_PASSWORD=…`, `"apiKey": "…"`, `API key: …`, `token: …`. */
const ASSIGNMENT =
  /((api[\s_-]?key|access[\s_-]?key|private[\s_-]?key|secret[\s_-]?key|secret|passwd|password|passphrase|pwd|token)["']?\s{0,3}(?::=|=>|[:=])\s{0,3}(["'`]?))([^\s"'`,;<>(){}[\]$][^\s"'`,;<>(){}[\]]*)/gi;

/** Not a type, a placeholder or an expression, as in source code. */
function isSecretValue(name: string, quote: string, value: string): boolean {
  if (NO_SECRET.test(value)) return false;
  if (/^p/i.test(name) && !/^private/i.test(name)) return value.length >= 4;
  return value.length >= 8 && (quote !== "" || HAS_DIGIT.test(value));
}

const NO_SECRET =
  /^(?:string|number|boolean|bool|str|int|any|null|none|nil|undefined|unknown|true|false|optional|required|field|text|hidden|process\..*|os\..*|env\..*|this\..*|self\..*|\*+|x+|\.+)[.?!]?$/i;

const BEGIN_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
const END_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
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
