/** Reads the entries of an append's guard. */

import { type AppendGuard, checkGuard, guardedIds } from "../../plan/append-guard.ts";
import type { SessionState } from "../../plan/plan-append.ts";
import { endBefore } from "../../plan/plan-suffix.ts";
import { PARENT_ID } from "../packs/parent-column.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("guarded_entries", {
  superseded: `SELECT superseded_by FROM entries WHERE tenant = ? AND id = ?`,
  parent: `SELECT ${PARENT_ID} AS parent_id FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.id = ?`,
});

export function checkGuarded(
  db: SqliteConnection,
  tenant: number,
  sessionId: string,
  guard: AppendGuard | undefined,
): void {
  if (guard === undefined) return;
  const found = guardedIds(guard).flatMap((id) => {
    const row = db.get(SQL.superseded, tenant, id);
    return row === undefined ? [] : [{ id, supersededBy: row["superseded_by"] as string | null }];
  });
  checkGuard(sessionId, guard, found);
}

/** See `endBefore`. */
export function findEndBefore(
  db: SqliteConnection,
  tenant: number,
  session: number,
  state: SessionState,
  replaced: readonly string[],
): string | null {
  const stored = replaced.flatMap((id) => {
    const row = db.get(SQL.parent, tenant, session, id);
    if (row === undefined) return [];
    return [[id, { id, parentId: row["parent_id"] as string | null }] as const];
  });
  return endBefore(state, replaced, new Map(stored));
}
