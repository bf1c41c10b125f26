/**
 * Percent-encodes one part of a session key.
 *
 * Peers choose their own ids: a colon in one must not make two parts of it, and ids that differ in
 * case or white space must stay distinct. So other characters are percent-encoded, which is
 * injective.
 */

import { BackscrollError } from "../model/errors.ts";

/**
 * Unescaped although a URL would escape them: mail addresses and telephone numbers stay readable.
 */
const PLAIN: Readonly<Record<string, string>> = { "%40": "@", "%2B": "+" };

/** An id as a segment. Empty if the id is empty or white space. */
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

/** The id of a segment; an unencoded segment is its own id. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
