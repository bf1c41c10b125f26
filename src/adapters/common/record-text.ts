/** The indexed text of a record. */

import { MAX_RECORD_TEXT_BYTES } from "../../model/limits.ts";

/** Cut to the limit of a record's text; null if empty. */
export function toRecordText(text: string): string | null {
  if (text === "") return null;
  if (Buffer.byteLength(text) <= MAX_RECORD_TEXT_BYTES) return text;
  const bytes = Buffer.from(text).subarray(0, MAX_RECORD_TEXT_BYTES);
  // The last character may have been split; its U+FFFD would exceed the limit.
  return bytes.toString().replace(/\ufffd$/, "");
}
