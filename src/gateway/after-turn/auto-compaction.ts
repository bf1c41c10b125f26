/**
 * Automatic compaction. A host calls it at the end of each turn and after a context overflow.
 *
 * The policy decides from the session's figures; every decision is reported with its numbers. A
 * compaction or flush that fails is reported and does not fail the turn before it.
 */

import { KeyedQueue } from "../../async/keyed-queue.ts";
import type { CompactionPlan } from "../../compaction/plan.ts";
import { readCompactionPolicy } from "../../compaction/policy.ts";
import { contextWindow as findWindow } from "../../context/context-window.ts";
import { TOKEN_ESTIMATE, type TokenCounter } from "../../context/tokens.ts";
import type { CompactionResult } from "../../engine/compaction/compact.ts";
import type { CompactInput, KeepInput } from "../../engine/compaction/compact-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { checkFields, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import {
  type AutoPolicy,
  type AutoPolicyName,
  compactionThreshold,
  DEFAULT_AUTO_POLICY,
  nonePolicy,
  toAutoPolicy,
} from "../compaction/auto-policy.ts";
import {
  type CompactionDecision,
  decide,
  type EventListener,
  type GatewayEvent,
} from "../compaction/decide.ts";
import {
  type MeasuredSession,
  markAttempt,
  readAutoState,
  readFigures,
  type TurnUsage,
} from "../compaction/session-state.ts";
import { flushIfDue } from "./flush-session.ts";
import type { FlushResult } from "./run-flush.ts";
import { checkFlush, type MemoryFlushOptions } from "./run-flush.ts";

/** The verbatim part of a conversation when a policy compacts; it shrinks with each overflow. */
type KeepPlan = Pick<CompactInput, "preset" | "keep" | "limitTokens">;

/**
 * The context must end well below the threshold, or the next turn would exceed it again. `turns`
 * has no token threshold: it keeps the newer half. `claw` keeps its number of messages.
 */
function keepOf(policy: AutoPolicy, contextWindow: number): KeepPlan {
  switch (policy.name) {
    case "none":
    case "turns":
      return { keep: "half" };
    case "claw":
      // No token limit: claw-code keeps these messages whatever their size.
      return { preset: { name: "claw", messages: policy.messages, tokens: policy.tokens } };
    case "pi": {
      const limitTokens = Math.floor(compactionThreshold(policy, contextWindow) / 2);
      return { keep: { tokens: Math.min(policy.keepRecentTokens, limitTokens) }, limitTokens };
    }
  }
}

/**
 * By attempt: keep about a quarter of the window, then the last exchange, then only the unanswered
 * message.
 */
const LESS: readonly ((contextWindow: number) => KeepInput)[] = [
  (contextWindow) => ({ tokens: Math.floor(contextWindow / 4) }),
  () => ({ messages: 2 }),
  () => "none",
];

/** The kept part after the `attempt`-th overflow in a row, counted from 1. */
function keepAfterOverflow(attempt: number, contextWindow: number): KeepPlan {
  const keep = LESS[Math.min(attempt, LESS.length) - 1]?.(contextWindow) ?? "none";
  return { keep, limitTokens: Math.floor(contextWindow / (attempt + 1)) };
}

export interface AutoCompactionOptions {
  /** A policy's name, or a policy with its own settings. Default: `turns`. */
  readonly policy?: AutoPolicyName | AutoPolicy;
  /** The name of the model whose window counts; see `contextWindow`. */
  readonly model?: string;
  /** Tokens of the model's window. Default: the catalogue's value for `model`. */
  readonly contextWindow?: number;
  /** The summarizer and its options. */
  readonly compact?: Pick<
    CompactInput,
    "summarizer" | "model" | "fallback" | "profile" | "strategy" | "before"
  >;
  /** Flushes memories before a compaction. Default: no flush. */
  readonly flush?: MemoryFlushOptions | false;
  readonly onEvent?: EventListener;
  /** Counts tokens where no provider reported them. Default: the store's counter. */
  readonly tokenCounter?: TokenCounter;
  readonly now?: () => number;
}

/**
 * Keyed mutex by session, shared by all gateways of this process: two turns that end together flush
 * and compact once.
 */
const turnEnds = new KeyedQueue();

export interface TurnContext {
  /** The turn was housekeeping: memories are not flushed for it. */
  readonly heartbeat?: boolean;
  readonly signal?: AbortSignal;
  /** For `makeRoom`: the most tokens that the context may take. Default: by the attempt. */
  readonly limitTokens?: number;
}

export interface AfterTurn {
  readonly decision: CompactionDecision;
  /** Null: no compaction. */
  readonly compaction: CompactionResult | null;
  readonly flush: FlushResult | null;
  /** All events in order, as `onEvent` received them. */
  readonly events: readonly GatewayEvent[];
}

export interface AutoCompaction {
  readonly policy: AutoPolicy;
  /** Evaluates the policy, and flushes and compacts if it says so. */
  afterTurn(session: SessionHandle, usage?: TurnUsage, turn?: TurnContext): Promise<AfterTurn>;
  /**
   * Compacts after the `attempt`-th context overflow in a row. Gives whether it compacted; policy
   * `none` never does.
   */
  makeRoom(
    session: SessionHandle,
    attempt: number,
    windowTokens?: number,
    turn?: TurnContext,
  ): Promise<boolean>;
  /** The window that the policy counts with. */
  readonly contextWindow: number;
}

export function autoCompaction(options: AutoCompactionOptions = {}): AutoCompaction {
  checkFields(options, "options", INPUTS.autoCompaction);
  const policy = toAutoPolicy(options.policy ?? DEFAULT_AUTO_POLICY);
  const { tokenCounter = TOKEN_ESTIMATE, now = Date.now, compact = {} } = options;
  checkPart(compact, "compact", INPUTS["autoCompaction.compact"]);
  const window = windowOf(options);
  const flush =
    options.flush === undefined || options.flush === false ? null : checkFlush(options.flush);

  /** Reports events to the host and records them. */
  function recorder() {
    const events: GatewayEvent[] = [];
    const tell: EventListener = (event) => {
      events.push(event);
      options.onEvent?.(event);
    };
    return { events, tell };
  }

  function parts(
    session: SessionHandle,
    known: MeasuredSession,
    own: AutoPolicy,
    turn: TurnContext,
  ) {
    const { events, tell } = recorder();
    const flushNow = (compacting: boolean) =>
      flush === null
        ? Promise.resolve(null)
        : flushIfDue({ session, known, policy: own, flush, compacting, turn, tell, now: now() });
    return { events, tell, flushNow };
  }

  async function evaluate(session: SessionHandle, usage: TurnUsage | undefined, turn: TurnContext) {
    checkFields(turn, "turn", INPUTS["autoCompaction.turn"]);
    const { policy: own, problems } = sessionPolicy(policy, (await session.meta()).metadata);
    const known = await readFigures(session, own, window, tokenCounter, usage);
    const { events, tell, flushNow } = parts(session, known, own, turn);
    const sessionId = session.id;
    for (const message of problems) tell({ type: "setting_ignored", sessionId, message });
    const decision = decide(own, known.figures);
    const { estimated } = known.figures;
    tell({ type: "compaction_decided", sessionId, ...decision, estimated });
    let flushed = decision.compact ? null : await flushNow(false);
    if (!decision.compact) return { decision, compaction: null, flush: flushed, events };
    const before = async () => {
      flushed = await flushNow(true);
    };
    const isForced = decision.reason === "silent_overflow";
    const minGainTokens = own.name === "none" || isForced ? null : own.minGainTokens;
    const plan = keepOf(own, window);
    const input = {
      ...writerOf(compact),
      ...plan,
      ...(turn.signal === undefined ? {} : { signal: turn.signal }),
    };
    const compaction = await compactBy({ session, known, input, minGainTokens, before, tell });
    const unused = unusedModel(known.session.metadata, compaction);
    if (unused !== undefined) tell({ type: "setting_ignored", sessionId, message: unused });
    return { decision, compaction, flush: flushed, events };
  }

  async function recover(
    session: SessionHandle,
    attempt: number,
    windowTokens: number,
    turn: TurnContext,
  ) {
    const { policy: own } = sessionPolicy(policy, (await session.meta()).metadata);
    if (own.name === "none") return false;
    const known = await readFigures(session, own, windowTokens, tokenCounter);
    const { tell, flushNow } = parts(session, known, own, turn);
    const { contextTokens, estimated } = known.figures;
    const numbers = { attempt, contextTokens, contextWindow: windowTokens };
    const told = { compact: true, reason: "overflow", policy: own.name, numbers } as const;
    tell({ type: "compaction_decided", sessionId: session.id, ...told, estimated });
    const before = async () => {
      await flushNow(true);
    };
    const { limitTokens } = turn;
    const plan =
      limitTokens === undefined
        ? keepAfterOverflow(attempt, windowTokens)
        : { keep: { tokens: limitTokens }, limitTokens };
    const input = {
      ...compact,
      ...plan,
      ...(turn.signal === undefined ? {} : { signal: turn.signal }),
    };
    const result = await compactBy({ session, known, input, minGainTokens: null, before, tell });
    return result !== null;
  }

  return {
    policy,
    contextWindow: window,
    afterTurn: (session, usage, turn = {}) =>
      turnEnds.run(session.id, () => evaluate(session, usage, turn)),
    makeRoom: (session, attempt, windowTokens = window, turn = {}) =>
      turnEnds.run(session.id, () => recover(session, attempt, windowTokens, turn)),
  };
}

/**
 * A session may name a model that the store lacks. If the host names none either, the summary is
 * written mechanically: a session that is never compacted ends in an overflow.
 */
function writerOf(compact: NonNullable<AutoCompactionOptions["compact"]>) {
  const isNamed = compact.summarizer !== undefined || compact.model !== undefined;
  return isNamed ? compact : { fallback: "mechanical" as const, ...compact };
}

/** Reports that the session's own model did not write its summary. */
function unusedModel(
  metadata: JsonObject,
  compaction: CompactionResult | null,
): string | undefined {
  const wanted = (metadata["compaction"] as JsonObject | undefined)?.["summarizerModel"];
  const data = compaction?.entry?.data as JsonObject | null | undefined;
  if (typeof wanted !== "string" || !String(data?.["summarizer"]).startsWith("mechanical")) {
    return undefined;
  }
  return `compaction.summarizerModel ${wanted} did not write the summary: a mechanical summary replaces it`;
}

/** Accepts a ready instance, settings for one, or false for none. */
export function toAutoCompaction(
  given: AutoCompaction | AutoCompactionOptions | false | undefined,
  model: string,
  contextWindow: number,
  tell: EventListener = () => undefined,
): AutoCompaction {
  if (given !== undefined && given !== false && "afterTurn" in given) return given;
  const options = given === false ? ({ policy: "none" } as const) : (given ?? {});
  const { onEvent }: AutoCompactionOptions = options;
  return autoCompaction({
    model,
    contextWindow,
    ...options,
    onEvent: (event) => {
      tell(event);
      onEvent?.(event);
    },
  });
}

function windowOf({ model, contextWindow }: AutoCompactionOptions): number {
  return contextWindow ?? findWindow(model ?? null).tokens;
}

/**
 * The policy of one session: the host's choice with the overrides in the session's metadata.
 *
 * `metadata.compaction` has the triggers of `turns`; `strategy: "never"` and `enabled: false`
 * switch any policy off for the session. Unknown values are reported and ignored.
 */
export function sessionPolicy(
  policy: AutoPolicy,
  metadata: JsonObject,
): { readonly policy: AutoPolicy; readonly problems: readonly string[] } {
  const own = metadata["compaction"];
  if (own === undefined) return { policy, problems: [] };
  if (isPlainObject(own) && own["enabled"] === false) {
    return { policy: nonePolicy(), problems: [] };
  }
  const read = readCompactionPolicy(metadata);
  const { problems } = read;
  if (read.policy.strategy === "never") return { policy: nonePolicy(), problems };
  if (policy.name !== "turns" || !isPlainObject(own)) return { policy, problems };
  const { triggerTurns, triggerTokens } = read.policy;
  return {
    policy: {
      ...policy,
      ...(own["triggerTurns"] === undefined ? {} : { triggerTurns }),
      ...(own["triggerTokens"] === undefined ? {} : { triggerTokens }),
    },
    problems,
  };
}

/**
 * Runs an automatic compaction: checks the minimum gain, counts the attempt, reports the outcome.
 */
interface CompactTask {
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
async function compactBy(task: CompactTask): Promise<CompactionResult | null> {
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
