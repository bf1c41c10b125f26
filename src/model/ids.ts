/**
 * Monotonic ULIDs, and the rules for callers' ids and names.
 *
 * An entry id sorts by time within one process. Across processes it does not: the order is the
 * store's sequence.
 */

import { BackscrollError } from "./errors.ts";
import { MAX_ID_LENGTH, MAX_NAME_BYTES } from "./limits.ts";

/** Crockford's alphabet, as character codes: no I, L, O or U. */
const ALPHABET = Uint8Array.from("0123456789ABCDEFGHJKMNPQRSTVWXYZ", (c) => c.charCodeAt(0));

/** The source of time and randomness; tests inject their own. */
export interface IdSource {
  now(): number;
  /** Fills `bytes` with random values. */
  random(bytes: Uint8Array): void;
}

/** A generator of ascending ULIDs, even when the clock steps back. */
export function createUlids(source: IdSource): () => string {
  const random = new Uint8Array(16);
  /**
   * The id's letters: the time, twelve shared by all ids of one millisecond, and four of a counter.
   */
  const letters = new Array<number>(TIME_LETTERS + SHARED_LETTERS + COUNTER_LETTERS).fill(0);
  let lastTime = -1;
  /** Starts at random and counts up. */
  let counter = 0;

  const startAt = (time: number) => {
    lastTime = time;
    source.random(random);
    // In two halves: 48 bits exceed the range of shifts.
    putDigits(letters, 0, TIME_LETTERS / 2, Math.floor(time / HALF_TIME));
    putDigits(letters, TIME_LETTERS / 2, TIME_LETTERS, time % HALF_TIME);
    for (let i = 0; i < SHARED_LETTERS; i++) {
      letters[TIME_LETTERS + i] = ALPHABET[(random[i] ?? 0) & 31] as number;
    }
    // The top bit is clear, to leave room for counting.
    counter = (((random[12] ?? 0) << 11) | ((random[13] ?? 0) << 3)) & 0x7ffff;
  };

  return () => {
    const now = source.now();
    if (now > lastTime) startAt(now);
    else if (++counter > MAX_COUNTER) startAt(lastTime + 1);
    putDigits(letters, TIME_LETTERS + SHARED_LETTERS, letters.length, counter);
    // One call: concatenating letters would cost twice as much.
    return String.fromCharCode.apply(null, letters);
  };
}

const TIME_LETTERS = 10;
const SHARED_LETTERS = 12;
const COUNTER_LETTERS = 4;
const HALF_TIME = 32 ** 5;
const MAX_COUNTER = 32 ** 4 - 1;

/** Writes a number with base 32 into the places from `from` to `end`. */
function putDigits(letters: number[], from: number, end: number, value: number): void {
  for (let rest = value, i = end - 1; i >= from; i--) {
    letters[i] = ALPHABET[rest & 31] as number;
    rest >>= 5;
  }
}

/** Letters, digits and `. _ : -`, starting with a letter or a digit: safe in a path or a URL. */
const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/** Checks a caller's id. Throws `invalid_input` or `too_large` naming `field`. */
export function checkId(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "") {
    throw invalid(field, `${field} must be a non-empty string`);
  }
  if (value.length > MAX_ID_LENGTH) {
    throw new BackscrollError(
      "too_large",
      `${field} has ${value.length} characters; at most ${MAX_ID_LENGTH} are allowed`,
      { details: { field, limit: MAX_ID_LENGTH, actual: value.length } },
    );
  }
  if (!ID_PATTERN.test(value) || value.includes("..")) {
    throw invalid(
      field,
      `${field} may hold letters, digits and . _ : - only, start with a letter or digit, and have no ".."; leave it out to get a new id`,
    );
  }
  return value;
}

/** Checks free text for a text column: a title, a name, an actor. */
export function checkText(
  value: unknown,
  field: string,
  maxBytes: number = MAX_NAME_BYTES,
): string {
  if (typeof value !== "string") throw invalid(field, `${field} must be a string`);
  // PostgreSQL cannot store the first, and hashes use both as separators.
  if (value.includes("\0") || value.includes("\u0001")) {
    throw invalid(field, `${field} must not hold the control characters U+0000 or U+0001`);
  }
  if (!value.isWellFormed()) {
    throw invalid(field, `${field} must be well-formed Unicode (it holds half a surrogate pair)`);
  }
  // A UTF-16 unit takes at most 3 bytes, so a short text needs no exact count.
  if (value.length * 3 > maxBytes) {
    const bytes = new TextEncoder().encode(value).length;
    if (bytes > maxBytes) {
      throw new BackscrollError(
        "too_large",
        `${field} has ${bytes} bytes; at most ${maxBytes} are allowed`,
        {
          details: { field, limit: maxBytes, actual: bytes },
        },
      );
    }
  }
  return value;
}

/** Checks a name that must not be empty: an actor, an agent, a tenant. */
export function checkName(
  value: unknown,
  field: string,
  maxBytes: number = MAX_NAME_BYTES,
): string {
  const text = checkText(value, field, maxBytes);
  if (text.trim() === "") throw invalid(field, `${field} must not be empty`);
  return text;
}

export function isTenantName(name: unknown): name is string {
  return typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);
}

/** Checks the name of a tenant. */
export function checkTenantName(name: string): string {
  if (isTenantName(name)) return name;
  throw new BackscrollError(
    "invalid_input",
    "tenant must be 1 to 128 letters, digits, dots, dashes or underscores, starting with a letter or digit",
    { details: { field: "tenant" } },
  );
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
