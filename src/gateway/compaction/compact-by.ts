/**
 * Runs an automatic compaction: checks the minimum gain, counts the attempt, reports the outcome.
 */

import type { CompactionPlan } from "../../compaction/plan.ts";
import type { CompactionResult } from "../../engine/compaction/compact.ts";
import type { CompactInput } from "../../engine/compaction/compact-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import type { EventListener, GatewayEvent } from "./events.ts";
import type { MeasuredSession } from "./read-figures.ts";
import { markAttempt, readAutoState } from "./session-state.ts";

export interface CompactTask {
  readonly session: SessionHandle;
  readonly known: MeasuredSession;
  readonly input: CompactInput;
  /** Null: any gain will do. */
  readonly minGainTokens: number | null;
  /** Runs once the compaction is certain to be tried, and before anything is written. */
  readonly before: () => Promise<void>;
  readonly tell: EventListener;
}

/**
 * Gives null if nothing was compacted. Any failure (engine, model, hook or abort) is reported as an
 * event and counts as an attempt: the turn before it has been answered.
 */
export async function compactBy(task: CompactTask): Promise<CompactionResult | null> {
  const { session, input, tell } = task;
  let lowGain: CompactionPlan | undefined;
  const before = async (plan: CompactionPlan) => {
    if (task.minGainTokens !== null && plan.gainTokens < task.minGainTokens) {
      lowGain = plan;
      return { cancel: true, reason: "it would save too little" } as const;
    }
    await task.before();
    return input.before?.(plan);
  };
  let result: CompactionResult;
  try {
    result = await session.compact({ ...input, before });
  } catch (error) {
    await mark(task, false);
    tell(toSkipped(session.id, error, lowGain, task.minGainTokens));
    return null;
  }
  const { entry, removed, tokensBefore, tokensAfter } = result;
  if (entry === null) {
    await mark(task, false);
    return null;
  }
  const count = await mark(task, true);
  const figures = { count, removed, tokensBefore, tokensAfter };
  tell({ type: "compacted", sessionId: session.id, entryId: entry.id, ...figures });
  return result;
}

/**
 * Marks the attempt and gives the session's compaction count, re-read because other processes count
 * too. A failed mark is reported and does not fail the turn.
 */
async function mark({ session, known, tell }: CompactTask, isDone: boolean): Promise<number> {
  const before = known.state.compactionCount;
  try {
    const now = isDone ? readAutoState((await session.meta()).metadata).compactionCount : before;
    const count = Math.max(before, now) + (isDone ? 1 : 0);
    await markAttempt(session, known.session.messageCount, isDone ? count : undefined);
    return count;
  } catch (error) {
    const message = messageOf(error);
    tell({ type: "attempt_not_marked", sessionId: session.id, message });
    return before + (isDone ? 1 : 0);
  }
}

function toSkipped(
  sessionId: string,
  error: unknown,
  lowGain: CompactionPlan | undefined,
  minGainTokens: number | null,
): GatewayEvent {
  const code = BackscrollError.is(error) ? error.code : "unknown";
  const message = messageOf(error);
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
