/** Iterates over the records below a prefix, page by page. */

import { MAX_PAGE } from "../../model/limits.ts";
import type { RecordInfo, StoredRecord } from "../../model/record.ts";
import type { ListRecordsInput, RecordsApi } from "./records.ts";

type Range = Omit<ListRecordsInput, "cursor">;

/** By key; `limit` is the page size. */
export function eachRecord(
  records: RecordsApi,
  range: Range & { readonly values: true },
): AsyncGenerator<StoredRecord>;
export function eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo>;
export async function* eachRecord(records: RecordsApi, range: Range): AsyncGenerator<RecordInfo> {
  let cursor: string | undefined;
  do {
    const page = { limit: MAX_PAGE, ...range };
    const { records: found, next } = await records.list(
      cursor === undefined ? page : { ...page, cursor },
    );
    yield* found;
    cursor = next;
  } while (cursor !== undefined);
}
