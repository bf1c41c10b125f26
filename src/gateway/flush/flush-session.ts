/** A memory flush of a session, if it is due: decided, done, marked and told. */

import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { AutoPolicy } from "../compaction/auto-policy.ts";
import type { EventListener } from "../compaction/events.ts";
import type { SessionFigures } from "../compaction/read-figures.ts";
import { isFlushed, markFlushed } from "../compaction/session-state.ts";
import { decideFlush } from "./decide-flush.ts";
import type { CheckedFlush } from "./flush-options.ts";
import { type FlushResult, runFlush } from "./run-flush.ts";

export interface FlushTask {
  readonly session: SessionHandle;
  readonly known: SessionFigures;
  readonly policy: AutoPolicy;
  readonly flush: CheckedFlush;
  /** A compaction is about to happen. */
  readonly compacting: boolean;
  readonly turn: { readonly heartbeat?: boolean; readonly signal?: AbortSignal };
  readonly tell: EventListener;
  readonly now: number;
}

/**
 * Null if nothing was written down. The cycle is marked as flushed only after the flush has succeeded:
 * one that fails is told, and tried again at the next turn.
 */
export async function flushIfDue(task: FlushTask): Promise<FlushResult | null> {
  const { session, known, policy, flush, turn, tell, now } = task;
  const { contextTokens, contextWindow } = known.figures;
  const sessionId = session.id;
  const decision = decideFlush(policy, flush, {
    ...{ contextTokens, contextWindow, fresh: known.fresh, compacting: task.compacting },
    flushed: isFlushed(known.state, known.compaction),
    heartbeat: turn.heartbeat ?? false,
  });
  tell({ type: "flush_decided", sessionId, ...decision });
  if (!decision.flush) return null;
  // As much as the conversation itself may take: half of the window is free for the rest.
  const tokenBudget = Math.max(1, Math.floor(contextWindow / 2));
  try {
    const result = await runFlush(session, flush, tokenBudget, now, turn.signal);
    await markFlushed(session, known.state, known.compaction, now);
    tell({ type: "flushed", sessionId, ...result });
    return result;
  } catch (error) {
    // Whoever failed, the model, the store or the folder: the conversation goes on without.
    const code = BackscrollError.is(error)
      ? error.code
      : ((error as { code?: unknown }).code ?? "unknown");
    const message = error instanceof Error ? error.message : String(error);
    tell({ type: "flush_failed", sessionId, code: String(code), message });
    return null;
  }
}
