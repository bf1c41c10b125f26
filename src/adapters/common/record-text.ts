/** The text by which a record is found. */

import { MAX_RECORD_TEXT_BYTES } from "../../model/limits.ts";

/** Cut where a record's text has to end; null if it is empty. */
export function toRecordText(text: string): string | null {
  if (text === "") return null;
  if (Buffer.byteLength(text) <= MAX_RECORD_TEXT_BYTES) return text;
  const bytes = Buffer.from(text).subarray(0, MAX_RECORD_TEXT_BYTES);
  // A character that was cut in two becomes U+FFFD, which is longer than what was left of it.
  return bytes.toString().replace(/\ufffd$/, "");
}
