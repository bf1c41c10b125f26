/**
 * One part of a session key.
 *
 * Peers choose their own ids, and a colon in one must not make it look like two parts, nor two ids
 * that differ in case or in white space inside become one. So other characters are percent-encoded,
 * which makes the encoding injective.
 */

import { BackscrollError } from "../model/errors.ts";

/** Kept as they are although a URL would not: mail addresses and telephone numbers stay readable. */
const PLAIN: Readonly<Record<string, string>> = { "%40": "@", "%2B": "+" };

/** An id as it stands between two colons. Empty if the id is empty, or only white space. */
export function encodeSegment(id: string, field: string): string {
  if (!id.isWellFormed() || id.includes("\0")) {
    throw new BackscrollError(
      "invalid_input",
      `${field} must be well-formed Unicode without a NUL character`,
      { details: { field } },
    );
  }
  return encodeURIComponent(id.trim()).replace(/%40|%2B/g, (code) => PLAIN[code] ?? code);
}

/** The id that a segment stands for; a segment that was never encoded stands for itself. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
