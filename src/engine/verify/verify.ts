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
import type { Store } from "../../store/store.ts";
import { checkInput } from "../check.ts";
import { Problems } from "./problems.ts";
import type { Counted, TenantRun } from "./tenant-run.ts";
import { verifyCounts } from "./verify-counts.ts";
import { FeedErasures } from "./verify-erased.ts";
import { verifyFeed } from "./verify-feed.ts";
import { verifyNotes } from "./verify-notes.ts";
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
