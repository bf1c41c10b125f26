/** Replacing the end of the active path: checked and planned here, once, for both backends. */

import type { Point } from "../../transcript/place.ts";
import type { AppendRequest } from "../records.ts";
import { entryNotFound, staleLeaf } from "../store-errors.ts";
import { leafMoved } from "./new-changes.ts";
import { type AppendPlan, planAppend, type SessionState } from "./plan-append.ts";

/** An entry that is to be replaced, as it is stored. */
export interface ReplacedEntry {
  readonly id: string;
  readonly parentId: string | null;
}

/**
 * The entry that the path ends with once `replaced` are off it; null: none. `stale_leaf` if they are not
 * the last entries of the active path, in their order.
 */
export function endBefore(
  state: SessionState,
  replaced: readonly string[],
  stored: ReadonlyMap<string, ReplacedEntry>,
): string | null {
  let end = state.leaf?.id ?? null;
  for (const id of replaced.toReversed()) {
    const entry = stored.get(id);
    if (entry === undefined) throw entryNotFound(id, state.sessionId);
    if (end !== id) throw staleLeaf(state.sessionId, end, id);
    end = entry.parentId;
  }
  return end;
}

/**
 * The plan of an append that continues from `end`. Where none of the entries becomes the leaf, the leaf
 * moves there, and the feed says so.
 */
export function planReplacement(
  state: SessionState,
  end: Point | null,
  request: AppendRequest,
  named: ReadonlyMap<string, Point>,
): AppendPlan {
  const plan = planAppend({ ...state, leaf: end }, request, named);
  const [before, after] = [state.leaf?.id ?? null, end?.id ?? null];
  if (before === after || plan.leaf !== end) return plan;
  const { sessionId, now } = request;
  const moved = leafMoved({ sessionId, leaf: after, now }, before);
  return { ...plan, changes: [moved, ...plan.changes] };
}
