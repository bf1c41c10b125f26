/**
 * Verifies the whole store: the database's own check, every hash, every counter.
 *
 * It finds changed, moved and missing entries, a truncated or rewritten feed, payloads that do not
 * match their hash, and wrong counters. It runs beside writers: each part is compared with its
 * state at the start. An unreadable item is one more problem, never the end of the verification.
 */

import type { VERIFY_REPORT } from "../../model/answers/store.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { recordBytes } from "../../store/record/plan-records.ts";
import type { RecordPlace } from "../../store/record/record-port.ts";
import type { TenantStatus } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { checkInput } from "../check.ts";
import { type Counted, damageOf, Problems, type TenantRun } from "./problems.ts";
import { FeedErasures } from "./verify-erased.ts";
import { verifyFeed } from "./verify-feed.ts";
import type { SessionSum } from "./verify-session.ts";
import { verifySessions } from "./verify-sessions.ts";

export type { Problem } from "./problems.ts";

export interface VerifyOptions {
  /** A feed head that was noted earlier, in hex: the feed must still pass through it. */
  readonly head?: string;
  readonly onProgress?: (progress: { readonly tenant: string; readonly checked: number }) => void;
}

export interface VerifyReport extends FieldsOf<typeof VERIFY_REPORT> {}

export async function verifyStore(store: Store, options: VerifyOptions): Promise<VerifyReport> {
  checkInput(options, "options", INPUTS.verify);
  const problems = new Problems();
  const heads: Record<string, string> = {};
  const counted: Counted = { sessions: 0, entries: 0, changes: 0 };
  const seen = { head: false };
  let tenants: readonly string[] = [];
  const damage = await store.checkIntegrity();
  await problems.attempt("(all)", null, async () => {
    tenants = await store.listTenants();
  });
  for (const tenant of tenants) {
    const run: TenantRun = {
      store,
      tenant,
      problems,
      counted,
      inFeed: new Set(),
      onProgress: () =>
        options.onProgress?.({ tenant, checked: counted.entries + counted.changes }),
    };
    const erasures = new FeedErasures(store, tenant);
    await problems.attempt(tenant, null, async () => {
      const { head, passed } = await verifyFeed(run, erasures, options.head);
      heads[tenant] = head;
      seen.head ||= passed;
    });
    await verifyCounts(run, () => verifySessions(run, erasures));
    await verifyNotes(run);
  }
  const { head } = options;
  if (head !== undefined && !seen.head) {
    const problem = `no feed contains the head ${head}: it was cut or rewritten`;
    problems.add("(all)", null, null, problem);
  }
  return {
    ok: problems.count === 0 && damage.length === 0,
    tenants: tenants.length,
    sessions: counted.sessions,
    entries: counted.entries,
    changes: counted.changes,
    damage,
    problems: problems.list,
    problemCount: problems.count,
    heads,
  };
}

/**
 * Verifies the sessions and records, and compares their sum with the tenant's row, if nothing was
 * written meanwhile and all could be counted.
 */
async function verifyCounts(
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

const PAGE = 200;

/** Content bytes of all records, expired ones included. */
async function verifyRecords(run: TenantRun): Promise<number> {
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

async function verifyNotes(run: TenantRun): Promise<void> {
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
