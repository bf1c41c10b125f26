/** Iterates over the records below a prefix, page by page. */

import { MAX_PAGE } from "../../model/limits.ts";
import type { RecordInfo, StoredRecord } from "../../model/record.ts";
import type { ListRecordsInput, RecordsApi } from "./records.ts";

type Range = Omit<ListRecordsInput, "cursor">;

/**
 * By key; `limit` is the page size. From the second page on, the next one is read while the caller works on
 * this one: a caller that needs only the first reads no other.
 */
export function eachRecord(
  records: RecordsApi,
  range: Range & { readonly values: true },
): AsyncGenerator<StoredRecord>;
export function eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo>;
export async function* eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo> {
  const read = (cursor: string) => {
    const page = records.list({ limit: MAX_PAGE, ...range, cursor });
    // A caller that stops early does not wait for it.
    page.catch(() => undefined);
    return page;
  };
  const first = await records.list({ limit: MAX_PAGE, ...range });
  yield* first.records;
  let page = first.next === undefined ? undefined : read(first.next);
  while (page !== undefined) {
    const { records: found, next } = await page;
    page = next === undefined ? undefined : read(next);
    yield* found;
  }
}
