/**
 * A model-ready context under a token budget.
 *
 * Reads from the leaf backwards only as much as can be used. What no longer fits, or was summarised
 * away, is searched for what bears on the newest message, and quoted: a model that is merely offered
 * a search tool does not use it when it should.
 */

import { continuationMessage } from "../../compaction/render/continuation.ts";
import { assembleContext, type Omission } from "../../context/build.ts";
import {
  type ContextSummary,
  type ContextWindow,
  chooseWindow,
} from "../../context/choose-window.ts";
import { liftPinned } from "../../context/lift-pinned.ts";
import type { ContextMessage } from "../../context/message.ts";
import { pruneToolResults } from "../../context/prune.ts";
import { type Provider, type RenderedContext, renderContext } from "../../context/render/render.ts";
import { orderForReply, waitingBehind } from "../../context/reply-order.ts";
import { countBlocks } from "../../context/tokens.ts";
import { startsTurn, turnStarts } from "../../context/turns.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import type { Scope } from "../scope.ts";
import { findAnswered } from "./build/find-answered.ts";
import { recallEvicted, type ShownPast } from "./build/recall-evicted.ts";
import type { CompactionView } from "./compaction-entry.ts";
import {
  type BuildContextInput,
  type CheckedContext,
  checkContextOptions,
} from "./context-options.ts";
import { keepParticipants } from "./participants.ts";
import { idsOf, readContext } from "./read-context.ts";
import { readStanding } from "./standing.ts";

export interface BuiltContext {
  readonly messages: readonly ContextMessage[];
  /** What was left out, and why. */
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened to make the newest turn fit. */
  readonly shortened: number;
}

const NONE: ReadonlySet<string> = new Set();
/** The longest excerpt takes 256 tokens, and the words round it about a hundred. */
const RECALL_TOKENS = 400;
/** A turn that is so many times as long as the budget is not read to its beginning. */
const ENDLESS_TURN = 50;

export async function buildContext(
  scope: Scope,
  sessionId: string,
  input: BuildContextInput,
): Promise<BuiltContext & { readonly rendered?: RenderedContext<Provider> }> {
  const options = checkContextOptions(input);
  const { counter } = scope;
  const { leaf, recentTurns, tokenBudget } = options;
  const read = await readContext(scope, sessionId, {
    counter,
    ...(leaf === undefined ? {} : { leaf }),
    isEnough: enough(recentTurns, tokenBudget, scope),
    // A question and an answer a turn, and a little more; tools take another page.
    firstPage: Math.min(256, 2 * recentTurns + 8),
  });
  const message = await findAnswered(scope, sessionId, read.entries, options.replyTo);
  const visible = keepParticipants(read.entries, options.participants);
  const kept = message === undefined ? visible : orderForReply(visible, message);
  const { compaction, unread } = read;
  const present = idsOf(message === undefined ? read.entries : [...read.entries, message]);
  const stood = await readStanding(scope, sessionId, compaction, present, leaf, read.hasPins);
  const waits = message === undefined ? NONE : waitingBehind([...stood, ...read.entries], message);
  const standing = stood.filter(({ id }) => !waits.has(id));
  const lifted = liftPinned(kept, turnStarts(kept).at(-1) ?? 0);
  const pinned = [...keepParticipants(standing, options.participants), ...lifted.pinned];
  const summary = compaction === null ? null : toSummary(compaction, kept.length > 0);
  const recallTokens = options.recall === null || leaf !== undefined ? 0 : RECALL_TOKENS;
  const window = checkFits(
    chooseWindow(
      { pinned, summary, entries: lifted.entries, unread },
      { tokenBudget, recentTurns, recallTokens, counter },
    ),
    tokenBudget,
  );
  const past = leaf === undefined ? shownPast(window, lifted.entries, pinned) : undefined;
  const [facts, recalled] = await Promise.all([
    options.includeFacts ? readFacts(scope, sessionId) : [],
    past === undefined ? [] : recallEvicted(scope, sessionId, past, options),
  ]);
  const context = pruned(assembleContext(window, { facts, recalled }), options, scope);
  const { provider, model } = options;
  if (provider === undefined) return context;
  const rendered = renderContext(context.messages, provider, model === undefined ? {} : { model });
  return { ...context, rendered };
}

function pruned(
  context: BuiltContext,
  { prune }: CheckedContext,
  { counter }: Scope,
): BuiltContext {
  if (prune === undefined) return context;
  const messages = pruneToolResults(context.messages, prune);
  const tokens = messages.reduce((sum, { blocks }) => sum + countBlocks(blocks, counter), 0);
  return { ...context, messages, tokens };
}

/** One in the words of claw-code is given as claw-code gives it: as what the system says. */
function toSummary({ entry, text, profile }: CompactionView, tailKept: boolean): ContextSummary {
  const summary = { entryId: entry.id, text };
  if (profile === "rich") return summary;
  return { ...summary, system: continuationMessage(text, { tailKept }) };
}

/** Nothing older is needed once there are more turns than wanted, or more tokens than there is room. */
function enough(
  recentTurns: number,
  tokenBudget: number,
  { counter }: Scope,
): (entry: Entry) => boolean {
  let turns = 0;
  let tokens = 0;
  return (entry) => {
    for (const block of entry.blocks) tokens += counter.countBlock(block);
    if (startsTurn(entry)) turns++;
    if (turns > recentTurns) return true;
    if (turns > 0) return tokens > tokenBudget && startsTurn(entry);
    // A turn without end, or nobody who begins one: what is older could never be shown.
    return tokens > ENDLESS_TURN * tokenBudget;
  };
}

/** Undefined where nothing is left out of the past, or there is no newest turn. */
function shownPast(
  { older, from, newestAt, unread, summary }: ContextWindow,
  entries: readonly Entry[],
  pinned: readonly Entry[],
): ShownPast | undefined {
  const newest = entries[newestAt];
  const isWhole = from === 0 && unread === 0 && summary === null;
  if (newest === undefined || isWhole) return undefined;
  const shown = idsOf([...pinned, ...entries.slice(from)]);
  const oldest = entries.slice(from, older.length)[0]?.sequence;
  // What is answered may have been said before all that is left out.
  const afterLast = Math.max(newest.sequence, (entries[newestAt - 1]?.sequence ?? -1) + 1);
  return { newest, shown, beforeSequence: oldest ?? afterLast };
}

/** In the order in which they were learned: at most 500, the newest. */
async function readFacts(scope: Scope, sessionId: string): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await scope.store.listFacts(scope.tenant, sessionId, after, MAX_PAGE, false);
    facts.push(...page);
    after = page.at(-1)?.id;
    if (page.length < MAX_PAGE) return facts.slice(-MAX_PAGE);
  }
}

function checkFits(
  window: ContextWindow | { readonly needed: number },
  tokenBudget: number,
): ContextWindow {
  if (!("needed" in window)) return window;
  const { needed } = window;
  throw new BackscrollError(
    "budget_too_small",
    `tokenBudget is ${tokenBudget}, but the pinned entries and the newest turn alone take ${needed} tokens; raise it to ${needed} at least, or unpin entries`,
    { details: { field: "tokenBudget", limit: tokenBudget, needed } },
  );
}
