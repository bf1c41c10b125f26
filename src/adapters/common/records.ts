/** Records of adapters: keys, texts, digests, and deletions that other processes may make, too. */

import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError, ignoring } from "../../model/errors.ts";
import { MAX_PAGE, MAX_RECORD_TEXT_BYTES } from "../../model/limits.ts";

/** Deletes all records below a prefix, and gives their number. */
export async function deleteBelow(
  records: RecordsApi,
  namespace: string,
  prefix: string,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const page = await records.list({ namespace, prefix, limit: MAX_PAGE });
    if (page.records.length === 0) return deleted;
    deleted += await deleteKeys(
      records,
      namespace,
      page.records.map(({ key }) => key),
    );
  }
}

/** Gives the number of the keys. */
export async function deleteKeys(
  records: RecordsApi,
  namespace: string,
  keys: readonly string[],
): Promise<number> {
  for (let i = 0; i < keys.length; i += MAX_PAGE) {
    const part = keys.slice(i, i + MAX_PAGE);
    try {
      await records.write(part.map((key) => ({ delete: { namespace, key } })));
    } catch (error) {
      if (!BackscrollError.is(error, "record_not_found")) throw error;
      // Another process deletes them, too.
      for (const key of part) await deleteIfThere(records, namespace, key);
    }
  }
  return keys.length;
}

export async function deleteIfThere(
  records: RecordsApi,
  namespace: string,
  key: string,
): Promise<void> {
  await ignoring("record_not_found", () => records.delete(namespace, key));
}

/** Without slashes and control characters. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of records hold none.
  return text.replace(/[%/\u0000-\u001f\u007f]/g, (found) => {
    return `%${found.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

/** The text that was escaped. */
export function plain(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Cut to the limit of a record's text; null if empty. */
export function toRecordText(text: string): string | null {
  if (text === "") return null;
  if (Buffer.byteLength(text) <= MAX_RECORD_TEXT_BYTES) return text;
  const bytes = Buffer.from(text).subarray(0, MAX_RECORD_TEXT_BYTES);
  // The last character may have been split; its U+FFFD would exceed the limit.
  return bytes.toString().replace(/\ufffd$/, "");
}

/** SHA-256 of a text, in hex. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(bytes).toString("hex");
}
