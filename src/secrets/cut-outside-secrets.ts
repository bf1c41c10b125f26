/**
 * Finds a cut that splits no secret: masking recognises only whole secrets. Both functions read a
 * window around the cut, so a text of megabytes costs no more than a short one.
 */

import { LONGEST_SECRET, redact } from "./redact.ts";

/** The length of a secret with its name, such as `password = `. */
const WINDOW = 2 * LONGEST_SECRET;

/** The largest end up to `end` that splits no secret. */
export function endOutsideSecret(text: string, end: number): number {
  const from = Math.max(0, end - WINDOW);
  const whole = redact(text.slice(from, end + LONGEST_SECRET)).text;
  let cut = end;
  for (let least = 1; cut > from; least *= 2) {
    const masked = redact(text.slice(from, cut)).text;
    if (whole.startsWith(masked)) return cut;
    // Both agree up to the secret; the rest of `masked` is its part before the cut.
    cut -= Math.max(least, masked.length - commonPrefix(whole, masked));
  }
  return from;
}

/** The smallest start from `start` on that splits no secret. */
export function startOutsideSecret(text: string, start: number): number {
  const to = Math.min(text.length, start + WINDOW);
  const whole = redact(text.slice(Math.max(0, start - LONGEST_SECRET), to)).text;
  let cut = start;
  for (let least = 1; cut < to; least *= 2) {
    const masked = redact(text.slice(cut, to)).text;
    if (whole.endsWith(masked)) return cut;
    cut += Math.max(least, masked.length - commonSuffix(whole, masked));
  }
  return to;
}

function commonPrefix(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let i = 0; i < most; i++) if (one[i] !== other[i]) return i;
  return most;
}

function commonSuffix(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let i = 1; i <= most; i++) if (one.at(-i) !== other.at(-i)) return i - 1;
  return most;
}
