/**
 * Compaction: an entry that replaces, in contexts, the entries before the first one that it keeps.
 *
 * Covered entries stay in the log, unless the session's retention erases them after the compaction.
 * Appends during summarisation are kept, because the entry records the sequence up to which it
 * covers. A concurrent compaction or edit of the covered part makes the call fail without effect.
 */

import type { CompactionPlan, NoPlan } from "../../compaction/plan.ts";
import { mechanicalSummarizer } from "../../compaction/render.ts";
import type { COMPACTION_RESULT } from "../../model/answers/context.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_SUMMARY_BYTES } from "../../model/limits.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkInput } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { applyRetention } from "../retention/apply-retention.ts";
import { type CheckedCompaction, type CompactInput, checkCompaction } from "./compact-options.ts";
import {
  type CompactionGround,
  planOn,
  summaryTokens,
  surveyContext,
} from "./compaction-ground.ts";
import { writeHierarchy } from "./hierarchy.ts";
import {
  type CompactionKey,
  compactionKey,
  figuresOf,
  findRepeated,
  storeCompaction,
} from "./store-compaction.ts";
import { type SummaryTask, type WrittenSummary, writeSummary } from "./write-summary.ts";

export interface CompactionResult extends FieldsOf<typeof COMPACTION_RESULT> {}

/** Estimated tokens of a summary before it is written. */
const EXPECTED_SUMMARY_TOKENS = 1_500;
/** How often a summary that exceeds the limit is written again, covering more. */
const MAX_ROUNDS = 3;

export async function compactSession(
  engine: EngineContext,
  sessionId: string,
  input: CompactInput,
): Promise<CompactionResult> {
  const key = compactionKey(sessionId, checkInput(input, "options", INPUTS.compact));
  if (key === undefined) return compactOnce(engine, sessionId, input, key);
  const before = await findRepeated(engine, sessionId, key);
  if (before !== undefined) return repeated(before);
  try {
    return await compactOnce(engine, sessionId, input, key);
  } catch (error) {
    // A concurrent repetition of the request may have done it already.
    const first = BackscrollError.is(error, "nothing_to_compact")
      ? await findRepeated(engine, sessionId, key)
      : undefined;
    if (first === undefined) throw error;
    return repeated(first);
  }
}

function repeated(entry: Entry): CompactionResult {
  return { entry, summary: textOf(entry.blocks), ...figuresOf(entry), erased: 0 };
}

async function compactOnce(
  engine: EngineContext,
  sessionId: string,
  input: CompactInput,
  key: CompactionKey | undefined,
): Promise<CompactionResult> {
  const { options, ground, planned } = await survey(engine, sessionId, input);
  if (planned === null) return unchanged(ground);
  const answer = await options.before?.(planned);
  if (answer !== undefined && "cancel" in answer) throw cancelled(sessionId, answer.reason);
  const { plan, written } =
    answer === undefined
      ? await writeWithin(engine, ground, options, planned)
      : await fromHook(engine, ground, options, planned, answer.summary);
  options.signal?.throwIfAborted();
  if (isLarger(plan) && ground.session.retention === "full") {
    if (options.quiet) return unchanged(ground);
    throw nothingToCompact(sessionId, "no_gain", plan);
  }
  const entry = await storeCompaction(engine, ground, options, plan, written, key);
  engine.contextSizes.forget(engine.tenant, sessionId);
  // If this fails, the compaction stands: the next one or a sweep completes the erasure.
  const { erased } = await applyRetention(engine, sessionId);
  const { firstKeptEntryId, tokensBefore, tokensAfter } = plan;
  const removed = plan.covered.length;
  const summary = textOf(entry.blocks);
  return { entry, summary, removed, firstKeptEntryId, tokensBefore, tokensAfter, erased };
}

/** The plan of `compactSession`; null if it would do nothing. */
export async function planSession(
  engine: EngineContext,
  sessionId: string,
  input: CompactInput,
): Promise<CompactionPlan | null> {
  const { planned } = await survey(engine, sessionId, input);
  return planned;
}

interface Survey {
  readonly options: CheckedCompaction;
  readonly ground: CompactionGround;
  /** Null if there is too little, and the caller accepts that. */
  readonly planned: CompactionPlan | null;
}

async function survey(
  engine: EngineContext,
  sessionId: string,
  input: CompactInput,
): Promise<Survey> {
  const session = await engine.store.findSession(engine.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const options = checkCompaction(engine, session, input);
  const ground = await surveyContext(engine, session);
  const planned = planOn(ground, options, expectedTokens(options));
  if (!("none" in planned)) return { options, ground, planned: planned.plan };
  if (options.quiet) return { options, ground, planned: null };
  throw nothingToCompact(sessionId, planned.none);
}

/** A summary and its plan, with the summary's real size. */
interface Outcome {
  readonly plan: CompactionPlan;
  readonly written: WrittenSummary;
}

/** Writes the summary; if it is too long, plans again with its size and rewrites it. */
async function writeWithin(
  engine: EngineContext,
  ground: CompactionGround,
  options: CheckedCompaction,
  first: CompactionPlan,
): Promise<Outcome> {
  const { limitTokens = Number.POSITIVE_INFINITY } = options;
  let plan = first;
  let plannedFor = expectedTokens(options);
  for (let round = 1; ; round++) {
    const written = await write(engine, ground, options, plan);
    const actual = summaryTokens(engine, written.text, options.profile);
    const sized = resized(plan, plannedFor, actual);
    if (sized.tokensAfter <= limitTokens || round === MAX_ROUNDS) return { plan: sized, written };
    const again = planOn(ground, options, actual);
    if ("none" in again) return { plan: sized, written };
    // The same entries with shorter results: the summary still applies.
    if (again.plan.through === plan.through) return { plan: again.plan, written };
    plan = again.plan;
    plannedFor = actual;
  }
}

function resized(plan: CompactionPlan, plannedFor: number, actual: number): CompactionPlan {
  const tokensAfter = plan.tokensAfter - plannedFor + actual;
  return { ...plan, tokensAfter, gainTokens: plan.tokensBefore - tokensAfter };
}

function write(
  engine: EngineContext,
  ground: CompactionGround,
  options: CheckedCompaction,
  plan: CompactionPlan,
): Promise<WrittenSummary> {
  const task = toTask(ground, options, plan);
  return options.strategy === "hierarchical"
    ? writeHierarchy(engine, ground, task, plan)
    : writeSummary(engine, task);
}

/** The hook's text, with the structure that later summaries build upon. */
async function fromHook(
  engine: EngineContext,
  ground: CompactionGround,
  options: CheckedCompaction,
  plan: CompactionPlan,
  summary: string,
): Promise<Outcome> {
  const text = checkName(summary, "summary", MAX_SUMMARY_BYTES);
  const task = { ...toTask(ground, options, plan), summarizer: mechanicalSummarizer("rich") };
  const { structure } = await writeSummary(engine, task);
  return {
    plan: resized(plan, expectedTokens(options), summaryTokens(engine, text, options.profile)),
    written: { text, structure, summarizer: "hook", model: null },
  };
}

function toTask(
  { session, previous }: CompactionGround,
  { summarizer, fallback, instructions, signal, limitTokens }: CheckedCompaction,
  plan: CompactionPlan,
): SummaryTask {
  return {
    ids: plan.covered,
    previous: previous === null ? null : { text: previous.text, structure: previous.structure },
    splitTurn: plan.splitTurn,
    quotes: session.retention === "full",
    summarizer,
    fallback,
    instructions,
    signal,
    maxTokens: limitTokens === undefined ? undefined : Math.floor(limitTokens / 3),
  };
}

function expectedTokens({ limitTokens }: CheckedCompaction): number {
  return Math.min(EXPECTED_SUMMARY_TOKENS, Math.floor((limitTokens ?? 10 ** 9) / 3));
}

function unchanged({ items, previousTokens }: CompactionGround): CompactionResult {
  const tokens = items.reduce((sum, item) => sum + item.tokens, previousTokens);
  const firstKeptEntryId = items[0]?.id ?? null;
  const counts = { tokensBefore: tokens, tokensAfter: tokens, erased: 0 };
  return { entry: null, summary: null, removed: 0, firstKeptEntryId, ...counts };
}

/**
 * Whether the context would grow. Sessions of another retention are compacted all the same: there a
 * compaction is what erases.
 */
function isLarger({ tokensBefore, tokensAfter }: CompactionPlan): boolean {
  return tokensAfter > tokensBefore;
}

type WhyNothing = NoPlan | "no_gain";

const WHY_NOTHING: Readonly<Record<WhyNothing, string>> = {
  empty: "it has no messages",
  below_threshold: "there are too few messages or tokens",
  nothing_before_cut: "every remaining entry is kept, pinned or unanswered; keep less",
  no_gain: "the summary would be larger than what it replaces",
};

function nothingToCompact(
  sessionId: string,
  reason: WhyNothing,
  plan?: CompactionPlan,
): BackscrollError {
  const { tokensBefore = 0, tokensAfter = 0 } = plan ?? {};
  const figures = plan === undefined ? {} : { tokensBefore, tokensAfter };
  const sizes =
    plan === undefined ? "" : ` (${tokensAfter} tokens of context, now ${tokensBefore})`;
  const message = `there is nothing to compact in session ${sessionId}: ${WHY_NOTHING[reason]}${sizes}`;
  return new BackscrollError("nothing_to_compact", message, {
    details: { sessionId, reason, ...figures },
  });
}

function cancelled(sessionId: string, reason: string | undefined): BackscrollError {
  const why = reason === undefined ? "" : `: ${reason}`;
  const message = `the compaction of session ${sessionId} was cancelled${why}`;
  return new BackscrollError("compaction_cancelled", message, { details: { sessionId } });
}
