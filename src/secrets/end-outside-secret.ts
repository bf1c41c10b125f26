import { LONGEST_SECRET } from "./longest-secret.ts";
import { redact } from "./redact.ts";

/**
 * Where to cut `text`: at `end`, or before a secret that `end` would halve such that masking no longer
 * recognises it.
 */
export function endOutsideSecret(text: string, end: number): number {
  const whole = redact(text.slice(0, end + LONGEST_SECRET)).text;
  let cut = end;
  for (let least = 1; cut > 0; least *= 2) {
    const masked = redact(text.slice(0, cut)).text;
    if (whole.startsWith(masked)) return cut;
    // The halves agree up to the secret; the rest of `masked` is the part of it before the cut.
    cut -= Math.max(least, masked.length - commonPrefix(whole, masked));
  }
  return 0;
}

function commonPrefix(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let i = 0; i < most; i++) if (one[i] !== other[i]) return i;
  return most;
}
