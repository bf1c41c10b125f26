/** Moves the active leaf, and pins entries: the mutable parts of a tree. */

import { entryPinned, leafMoved } from "../../plan/new-changes.ts";
import type { MoveLeafRequest } from "../../records.ts";
import { checkExpectedLeaf, checkNode, entryNotFound } from "../../store-errors.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { writeFeed } from "./feed.ts";
import { lockQuery, lockSession, pointsQuery, toPoints, toState } from "./session-state.ts";

const SQL = statements("leaf", {
  move: `UPDATE session_state SET leaf_id = $3, leaf_sequence = $4, leaf_chain = $5,
      leaf_depth = $6, leaf_ordinal = $7, leaf_hash = $8, leaf_at_tip = $9,
      last_write_at = greatest(last_write_at, $10)
    WHERE tenant = $1 AND session = $2`,
  pin: `UPDATE entries SET pinned = $4 WHERE tenant = $1 AND session = $2 AND id = $3 RETURNING id`,
});

export async function moveLeaf(tx: Transaction, request: MoveLeafRequest): Promise<void> {
  const { sessionId } = request;
  const [locked, points] = await tx.together([
    lockQuery(tx, sessionId),
    pointsQuery(tx, sessionId, request.leaf === null ? [] : [request.leaf]),
  ]);
  const { number, state } = toState(locked, sessionId);
  checkExpectedLeaf(sessionId, state.leaf?.id ?? null, request.expectedLeaf);
  const leaf = request.leaf === null ? null : toPoints(points).get(request.leaf);
  if (leaf === undefined) throw entryNotFound(request.leaf ?? "", sessionId);
  if (leaf !== null) checkNode(leaf, sessionId);
  tx.defer(
    SQL.move,
    tx.tenant,
    number,
    leaf?.id ?? null,
    leaf?.sequence ?? null,
    leaf?.chain ?? null,
    leaf?.depth ?? null,
    leaf?.ordinal ?? null,
    leaf?.hash ?? null,
    leaf?.atTip ? 1 : 0,
    request.now,
  );
  writeFeed(tx, [leafMoved(request, state.leaf?.id ?? null)]);
}

export async function setPinned(
  tx: Transaction,
  sessionId: string,
  entryId: string,
  pinned: boolean,
  now: number,
): Promise<void> {
  const { number } = await lockSession(tx, sessionId);
  const row = await tx.get(SQL.pin, tx.tenant, number, entryId, pinned ? 1 : 0);
  if (row === undefined) throw entryNotFound(entryId, sessionId);
  writeFeed(tx, [entryPinned(sessionId, entryId, pinned, now)]);
}
