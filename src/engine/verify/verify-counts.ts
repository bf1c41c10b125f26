/** Compares a tenant's counters with the sum over its sessions and records. */

import type { TenantStatus } from "../../store/records.ts";
import type { TenantRun } from "./tenant-run.ts";
import { verifyRecords } from "./verify-records.ts";
import type { SessionSum } from "./verify-session.ts";

/**
 * Verifies the sessions and records, and compares their sum with the tenant's row, if nothing was
 * written meanwhile and all could be counted.
 */
export async function verifyCounts(
  run: TenantRun,
  verifySessions: () => Promise<readonly SessionSum[]>,
): Promise<void> {
  const { tenant, problems } = run;
  const before = await statusOf(run);
  const unsound = problems.count;
  const sums = await verifySessions();
  let recordBytes = 0;
  await problems.attempt(tenant, null, async () => {
    recordBytes = await verifyRecords(run);
  });
  const after = await statusOf(run);
  if (before === undefined || after === undefined || problems.count > unsound) return;
  if (before.feedPosition !== after.feedPosition) return;
  const sum = (field: keyof SessionSum) => sums.reduce((total, each) => total + each[field], 0);
  const counts = [
    ["sessions", sums.length, before.sessions],
    ["entries", sum("entries"), before.entries],
    ["messages", sum("messages"), before.messages],
    ["bytes of content", sum("contentBytes") + recordBytes, before.contentBytes],
  ] as const;
  for (const [what, counted, row] of counts) {
    if (counted === row) continue;
    problems.add(tenant, null, null, `the tenant has ${counted} ${what}, its row says ${row}`);
  }
}

/** Undefined, with a problem, if unreadable. */
async function statusOf({ store, tenant, problems }: TenantRun): Promise<TenantStatus | undefined> {
  let status: TenantStatus | undefined;
  await problems.attempt(tenant, null, async () => {
    const { tenants } = await store.status();
    status = tenants.find((each) => each.tenant === tenant);
  });
  return status;
}
