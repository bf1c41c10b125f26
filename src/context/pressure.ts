/**
 * Context pressure: the tokens of a context.
 *
 * The provider's figure for the last call, cache reads and writes included, plus an estimate of
 * later entries. A compaction invalidates earlier figures, so only later calls count. Cumulative
 * counters are for billing and not used here.
 */

import type { CONTEXT_USAGE } from "../model/answers/context.ts";
import type { Usage } from "../model/entry.ts";
import { totalTokens } from "../model/prices.ts";
import type { FieldsOf } from "../model/shape.ts";

export interface Pressure extends Omit<FieldsOf<typeof CONTEXT_USAGE>, "billed" | "compaction"> {}

/** An entry of the context, oldest first, without the compactions. */
export interface PressureItem {
  readonly id: string;
  readonly sequence: number;
  readonly usage: Usage | null;
  readonly tokens: number;
}

/**
 * `compactedAt` is the sequence of the newest compaction on the path (0: none); `standing` the
 * tokens of its summary and of pinned entries.
 */
export function contextPressure(
  items: readonly PressureItem[],
  compactedAt: number,
  standing: number,
): Pressure {
  let later = 0;
  for (const item of items.toReversed()) {
    if (item.usage !== null && item.sequence > compactedAt) {
      const contextTokens = totalTokens(item.usage) + later;
      return { contextTokens, estimatedTokens: later, estimated: false, reportedBy: item.id };
    }
    later += item.tokens;
  }
  const contextTokens = standing + later;
  return { contextTokens, estimatedTokens: contextTokens, estimated: true, reportedBy: null };
}
