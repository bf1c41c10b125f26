/** Rows that no hash covers: memories, facts, routes and access tokens. Each is read once. */

import { damageOf } from "./problems.ts";
import type { TenantRun } from "./tenant-run.ts";

const PAGE = 200;

export async function verifyNotes(run: TenantRun): Promise<void> {
  const { store, tenant } = run;
  await readAll(run, "memories", (after: { agent: string; name: string } | undefined, limit) =>
    store.listMemories(tenant, undefined, after, limit),
  );
  await readAll(run, "facts", (after: { id: string } | undefined, limit) =>
    store.listFacts(tenant, undefined, after?.id, limit, true),
  );
  await readAll(run, "routes", (after: { key: string } | undefined, limit) =>
    store.listRoutes(tenant, after?.key, limit),
  );
  await readAll(run, "access tokens", (after: { id: string } | undefined, limit) =>
    store.listTokens(tenant, after?.id, limit),
  );
}

/**
 * Reads page by page. A damaged page is read again row by row, up to the damage; the rows after an
 * unreadable one cannot be reached.
 */
async function readAll<Row>(
  { tenant, problems, onProgress }: TenantRun,
  what: string,
  list: (after: Row | undefined, limit: number) => Promise<readonly Row[]>,
): Promise<void> {
  let last: Row | undefined;
  let limit = PAGE;
  for (;;) {
    let page: readonly Row[] = [];
    const damage = await damageOf(async () => {
      page = await list(last, limit);
    });
    if (damage !== undefined && limit === 1) {
      problems.add(tenant, null, null, `${damage}; ${what} behind it were not read`);
      return;
    }
    if (damage === undefined && page.length < limit) return;
    if (damage === undefined) last = page.at(-1);
    else limit = 1;
    onProgress();
  }
}
