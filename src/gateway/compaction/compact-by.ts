/** A compaction that nobody asked for: guarded by a least gain, counted, and told. */

import type { CompactionPlan } from "../../compaction/plan.ts";
import type { CompactionResult } from "../../engine/context/compact.ts";
import type { CompactInput } from "../../engine/context/compact-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { EventListener, GatewayEvent } from "./events.ts";
import type { SessionFigures } from "./read-figures.ts";
import { markAttempt } from "./session-state.ts";

export interface CompactTask {
  readonly session: SessionHandle;
  readonly known: SessionFigures;
  readonly input: CompactInput;
  /** Null: whatever it saves. */
  readonly minGainTokens: number | null;
  /** Runs once the compaction is certain to be tried, and before anything is written. */
  readonly before: () => Promise<void>;
  readonly tell: EventListener;
}

/**
 * Null if it was not done. Whatever the engine says no to is told as an event: the turn that it comes
 * after has been answered. What is a bug is thrown.
 */
export async function compactBy(task: CompactTask): Promise<CompactionResult | null> {
  const { session, known, input, tell } = task;
  const { messageCount } = known.session;
  let lowGain: CompactionPlan | undefined;
  const before = async (plan: CompactionPlan) => {
    if (task.minGainTokens !== null && plan.gainTokens < task.minGainTokens) {
      lowGain = plan;
      return { cancel: true, reason: "it would save too little" } as const;
    }
    await task.before();
    return input.before?.(plan);
  };
  try {
    const result = await session.compact({ ...input, before });
    const { entry, removed, tokensBefore, tokensAfter } = result;
    if (entry === null) {
      await markAttempt(session, messageCount);
      return null;
    }
    const count = known.state.compactionCount + 1;
    await markAttempt(session, messageCount, count);
    const figures = { count, removed, tokensBefore, tokensAfter };
    tell({ type: "compacted", sessionId: session.id, entryId: entry.id, ...figures });
    return result;
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    await markAttempt(session, messageCount);
    tell(toSkipped(session.id, error, lowGain, task.minGainTokens));
    return null;
  }
}

function toSkipped(
  sessionId: string,
  error: BackscrollError,
  lowGain: CompactionPlan | undefined,
  minGainTokens: number | null,
): GatewayEvent {
  const { code, message } = error;
  const told = { type: "compaction_skipped", sessionId, code, message } as const;
  if (lowGain !== undefined) {
    const { gainTokens, tokensBefore, tokensAfter } = lowGain;
    const numbers = { gainTokens, minGainTokens: minGainTokens ?? 0, tokensBefore, tokensAfter };
    return { ...told, reason: "min_gain", numbers };
  }
  if (code === "nothing_to_compact") return { ...told, reason: code, numbers: {} };
  if (code === "compaction_conflict") return { ...told, reason: "conflict", numbers: {} };
  return { ...told, reason: "failed", numbers: {} };
}
