/**
 * Flushes the memories of a session if due: decides, takes the lease, flushes, marks the cycle,
 * reports.
 */

import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import type { AutoPolicy } from "../compaction/auto-policy.ts";
import type { EventListener } from "../compaction/decide.ts";
import type { MeasuredSession } from "../compaction/session-state.ts";
import { isFlushed, markFlushed, readAutoState } from "../compaction/session-state.ts";
import {
  type CheckedFlush,
  decideFlush,
  type FlushDecision,
  type FlushResult,
  runFlush,
} from "./run-flush.ts";

export interface FlushTask {
  readonly session: SessionHandle;
  readonly known: MeasuredSession;
  readonly policy: AutoPolicy;
  readonly flush: CheckedFlush;
  /** A compaction is about to happen. */
  readonly compacting: boolean;
  readonly turn: { readonly heartbeat?: boolean; readonly signal?: AbortSignal };
  readonly tell: EventListener;
  readonly now: number;
}

/**
 * Null if no flush was due or it failed. The cycle is marked as flushed only after the flush has
 * succeeded: a failed flush is reported, and the next turn tries again.
 *
 * A lease lets one process flush a session at a time; the next one checks again whether a flush is
 * due.
 */
export async function flushIfDue(task: FlushTask): Promise<FlushResult | null> {
  const { session, flush, compacting, turn } = task;
  const wanted = decideOn(task, isFlushed(task.known.state, task.known.compaction));
  if (!wanted.flush) return told(task, wanted);
  const claim = {
    durationMs: flush.leaseMs,
    // A compaction waits for the flush before it; a turn does not.
    patienceMs: compacting ? PATIENCE_MS : 0,
    ...(turn.signal === undefined ? {} : { signal: turn.signal }),
  };
  let isOurs = false;
  let result: FlushResult | null = null;
  try {
    await session.holdLease("memory-flush", claim, async (signal) => {
      isOurs = true;
      const decision = await decideAgain(task, wanted);
      result = decision.flush ? await carryOut(task, decision, signal) : told(task, decision);
    });
  } catch (error) {
    // A store error: report it and go on with the conversation.
    return failed(task, error);
  }
  if (isOurs || turn.signal?.aborted === true) return result;
  return told(task, { ...wanted, flush: false, reason: "claimed_elsewhere" });
}

/** The longest answer of a model; then waiting for another process's flush ends. */
const PATIENCE_MS = 120_000;

function decideOn({ policy, flush, known, compacting, turn }: FlushTask, flushed: boolean) {
  const { contextTokens, contextWindow } = known.figures;
  const { enabled, softThresholdTokens, workspaceAccess } = flush;
  return decideFlush(
    policy,
    { enabled, softThresholdTokens, workspaceAccess },
    {
      contextTokens,
      contextWindow,
      fresh: known.fresh,
      compacting,
      flushed,
      heartbeat: turn.heartbeat ?? false,
    },
  );
}

/** The figures may be stale: another process may have flushed or compacted since. */
async function decideAgain(task: FlushTask, wanted: FlushDecision): Promise<FlushDecision> {
  const { session, known } = task;
  const state = readAutoState((await session.meta()).metadata);
  if (isFlushed(state, known.compaction)) return decideOn(task, true);
  const { compaction } = await session.usage();
  return compaction === known.compaction
    ? wanted
    : { ...wanted, flush: false, reason: "stale_count" };
}

function told({ session, tell }: FlushTask, decision: FlushDecision): null {
  tell({ type: "flush_decided", sessionId: session.id, ...decision });
  return null;
}

async function carryOut(
  task: FlushTask,
  decision: FlushDecision,
  signal: AbortSignal,
): Promise<FlushResult | null> {
  const { session, known, flush, tell, now } = task;
  told(task, decision);
  // The conversation's share; the other half of the window stays free.
  const half = Math.floor(known.figures.contextWindow / 2);
  const tokenBudget = Math.max(MIN_CONTEXT_BUDGET, half);
  try {
    const { compaction } = known;
    const result = await runFlush(session, flush, { tokenBudget, now, compaction, signal });
    // The process that took over the lease marks the cycle itself.
    signal.throwIfAborted();
    const state = readAutoState((await session.meta()).metadata);
    await markFlushed(session, state, compaction, now);
    tell({ type: "flushed", sessionId: session.id, ...result });
    return result;
  } catch (error) {
    // A failing model, store or folder must not end the conversation.
    return failed(task, error);
  }
}

function failed({ session, tell }: FlushTask, error: unknown): null {
  const code = BackscrollError.is(error)
    ? error.code
    : ((error as { code?: unknown }).code ?? "unknown");
  const message = messageOf(error);
  tell({ type: "flush_failed", sessionId: session.id, code: String(code), message });
  return null;
}
