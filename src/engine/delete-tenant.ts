/**
 * Deletes all data of a tenant in short transactions: at most `MAX_DELETED_ENTRIES` entries of a
 * session in each, or a page of records.
 *
 * First a quota of zero closes the tenant, then its tokens are revoked. Each step is durable before
 * the next, and a finished step is not repeated, so an interrupted deletion continues when called
 * again. The feed, the tombstones and the name stay, as after any deletion: the tenant's number is
 * never reused, and consumers of the feed see the deletions.
 */

import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE, MAX_RECORD_OPERATIONS } from "../model/limits.ts";
import { didYouMean } from "../model/suggest.ts";
import { checkInput } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";
import { maintainIndex } from "./maintain-index.ts";
import { sweepAll } from "./sweep.ts";

/** Counts of deleted items; of tokens, revoked ones. */
export interface TenantDeletion {
  readonly tokens: number;
  readonly sessions: number;
  readonly records: number;
  readonly memories: number;
  readonly routes: number;
}

export interface DeleteTenantOptions {
  /** Called after each token, session, memory, route and page of records. */
  readonly onProgress?: (progress: TenantDeletion) => void;
}

const GONE: readonly ErrorCode[] = [
  "session_key_not_found",
  "session_not_found",
  "memory_not_found",
  "fact_not_found",
  "entry_not_found",
  "record_not_found",
];
const CLOSED = { maxSessions: 0, maxEntries: 0, maxContentBytes: 0 };

export async function deleteTenant(
  engine: EngineContext,
  options: DeleteTenantOptions,
): Promise<TenantDeletion> {
  const { onProgress } = checkInput(options, "options", INPUTS.deleteTenant);
  const { store, tenant, by } = engine;
  const tenants = await store.listTenants();
  if (!tenants.includes(tenant)) throw unknownTenant(tenant, tenants);
  const deleted = { tokens: 0, sessions: 0, records: 0, memories: 0, routes: 0 };
  const note = (what: keyof TenantDeletion, count = 1) => {
    deleted[what] += count;
    onProgress?.({ ...deleted });
  };

  await store.setQuota(tenant, CLOSED, engine.now(), by);
  for (let after: string | undefined; ; ) {
    const page = await store.listTokens(tenant, after, MAX_PAGE);
    for (const { id, revokedAt } of page) {
      if (revokedAt !== null) continue;
      await store.revokeToken(tenant, id, engine.now(), by);
      note("tokens");
    }
    after = page.at(-1)?.id;
    if (page.length < MAX_PAGE) break;
  }
  /** Deleted items leave the list, so the first page is read until it is empty. */
  const drain = async <Item>(
    what: keyof TenantDeletion,
    read: () => Promise<readonly Item[]>,
    remove: (item: Item, now: number) => Promise<unknown>,
  ) => {
    for (let page = await read(); page.length > 0; page = await read()) {
      for (const item of page) {
        if (await unlessGone(remove(item, engine.now()))) note(what);
      }
    }
  };
  await drain(
    "routes",
    () => store.listRoutes(tenant, undefined, MAX_PAGE),
    ({ key }, now) => store.deleteRoute(tenant, key, now, by),
  );
  await drain(
    "sessions",
    async () => (await store.listSessions(tenant, {}, { limit: MAX_PAGE })).sessions,
    ({ id }, now) => store.deleteSession(tenant, id, "tenant", now, by),
  );
  // Rows of a session whose deletion was interrupted: no list has it any more.
  await sweepAll((limit) => store.sweep({ tenant, now: engine.now(), limit }));
  await drain(
    "memories",
    () => store.listMemories(tenant, undefined, undefined, MAX_PAGE),
    ({ agent, name }, now) => store.deleteMemory(tenant, agent, name, now),
  );
  for (;;) {
    const which = { prefix: "", limit: MAX_RECORD_OPERATIONS, maxBytes: Number.MAX_SAFE_INTEGER };
    const { records } = await store.readRecords(tenant, { which, now: 0, parts: "info" });
    if (records.length === 0) break;
    const operations = records.map(({ namespace, key }) => ({ namespace, key, put: null }));
    const isDone = await unlessGone(store.writeRecords(tenant, { operations, now: engine.now() }));
    if (isDone) note("records", records.length);
  }
  await maintainIndex(engine, "purge", {});
  return deleted;
}

/** False if another process has deleted it meanwhile, which is no error. */
export async function unlessGone(deletion: Promise<unknown>): Promise<boolean> {
  try {
    await deletion;
    return true;
  } catch (error) {
    if (BackscrollError.is(error) && GONE.includes(error.code)) return false;
    throw error;
  }
}

function unknownTenant(tenant: string, tenants: readonly string[]): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    `the store has no tenant ${tenant}${didYouMean(tenant, tenants)}`,
    { details: { field: "tenant" } },
  );
}
