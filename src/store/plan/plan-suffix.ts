/** Plans the replacement of the active path's suffix, for both backends. */

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
 * The new end of the path without `replaced`; null: the root. Throws `stale_leaf` unless they are
 * the path's last entries, in order.
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
 * The plan of an append that continues from `end`. If none of the entries becomes the leaf, the
 * leaf moves there, with a change in the feed.
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
