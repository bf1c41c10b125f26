/** Verifies every record against its hash, and sums their content. */

import { recordBytes } from "../../store/record/plan-records.ts";
import type { RecordPlace } from "../../store/record/record-port.ts";
import type { TenantRun } from "./tenant-run.ts";

const PAGE = 200;

/** Content bytes of all records, expired ones included. */
export async function verifyRecords(run: TenantRun): Promise<number> {
  const { store, tenant, problems } = run;
  let total = 0;
  let after: RecordPlace | undefined;
  for (let more = true; more; run.onProgress()) {
    const which = {
      prefix: "",
      limit: PAGE,
      maxBytes: 0,
      ...(after === undefined ? {} : { after }),
    };
    const page = await store.readRecords(tenant, { which, now: 0, parts: "info" });
    for (const place of page.records) {
      await problems.attempt(tenant, null, async () => {
        const request = { which: [place], now: 0, parts: "all" } as const;
        const [record] = (await store.readRecords(tenant, request)).records;
        // A record deleted meanwhile counts nothing.
        if (record !== undefined) total += contentBytes(record.bytes, record.text);
      });
    }
    after = page.records.at(-1);
    more = page.more;
  }
  return total;
}

function contentBytes(bytes: Uint8Array | null, text: string | null): number {
  return recordBytes({ bytes: bytes ?? new Uint8Array(), text });
}
