/** Reads the entries of an append's guard, after taking the session's lock. */

import { type AppendGuard, type GuardedEntry, guardedIds } from "../../plan/append-guard.ts";
import type { ReplacedEntry } from "../../plan/plan-suffix.ts";
import type { Row } from "../../records.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { UNINDEXED_SESSION } from "./entry-columns.ts";

const SQL = statements("guarded_entries", {
  superseded: `SELECT id, superseded_by FROM entries WHERE tenant = $1 AND id = ANY ($2)`,
  parents: `SELECT e.id, e.parent_id FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND ${UNINDEXED_SESSION} = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND e.id = ANY ($3)`,
});

export function guardQuery(tx: Transaction, guard: AppendGuard | undefined): Query | undefined {
  return guard === undefined ? undefined : query(SQL.superseded, tx.tenant, guardedIds(guard));
}

export function toGuarded(rows: readonly Row[] | undefined): GuardedEntry[] {
  return (rows ?? []).map((row) => ({
    id: String(row["id"]),
    supersededBy: row["superseded_by"] as string | null,
  }));
}

export function replacedQuery(
  tx: Transaction,
  sessionId: string,
  ids: readonly string[] | undefined,
): Query | undefined {
  return ids === undefined ? undefined : query(SQL.parents, tx.tenant, sessionId, ids);
}

export function toReplaced(rows: readonly Row[] | undefined): Map<string, ReplacedEntry> {
  return new Map(
    (rows ?? []).map((row) => {
      const id = String(row["id"]);
      return [id, { id, parentId: row["parent_id"] as string | null }];
    }),
  );
}
