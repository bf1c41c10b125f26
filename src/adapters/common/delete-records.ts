/** Deletes records that other processes may delete concurrently. */

import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";

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
  try {
    await records.delete(namespace, key);
  } catch (error) {
    if (!BackscrollError.is(error, "record_not_found")) throw error;
  }
}
