/**
 * A model-ready context under a token budget.
 *
 * Reads from the leaf backwards only as much as can be used. What no longer fits, or was summarised
 * away, is searched for what bears on the newest message, and quoted: a model that is merely offered
 * a search tool does not use it when it should.
 */

import { continuationMessage } from "../../compaction/render/continuation.ts";
import {
  type AssembledContext,
  assembleContext,
  type ContextSummary,
  type Omission,
} from "../../context/build.ts";
import { liftPinned } from "../../context/lift-pinned.ts";
import type { ContextMessage } from "../../context/message.ts";
import { pruneToolResults } from "../../context/prune.ts";
import type { Excerpt } from "../../context/quote.ts";
import { type Provider, type RenderedContext, renderContext } from "../../context/render/render.ts";
import { countBlocks } from "../../context/tokens.ts";
import { startsTurn, turnStarts } from "../../context/turns.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import type { Scope } from "../scope.ts";
import { searchSessions } from "../search.ts";
import type { CompactionView } from "./compaction-entry.ts";
import {
  type BuildContextInput,
  type CheckedContext,
  checkContextOptions,
} from "./context-options.ts";
import { keepParticipants } from "./participants.ts";
import { type ContextEntries, idsOf, readContext } from "./read-context.ts";
import { readStanding } from "./standing.ts";

export interface BuiltContext {
  readonly messages: readonly ContextMessage[];
  /** What was left out, and why. */
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened to make the newest turn fit. */
  readonly shortened: number;
}

/** What of the ranking pays for itself here: docs/decisions has the figures. */
const RECALL_RANKING = { misspelt: 0, about: 0, title: 0, summary: 0, candidates: 32 };
/** A turn that is so many times as long as the budget is not read to its beginning. */
const ENDLESS_TURN = 50;
/** What is used of a message to search by: a pasted log would drown the question in it. */
const QUERY_LENGTH = 2_000;

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
  const kept = keepParticipants(read.entries, options.participants);
  // Asked for at once: none of them needs another.
  const [standing, facts, found] = await Promise.all([
    readStanding(scope, sessionId, read.compaction, idsOf(read.entries), leaf, read.hasPins),
    options.includeFacts ? readFacts(scope, sessionId) : [],
    recallEvicted(scope, sessionId, { ...read, entries: kept }, options),
  ]);
  const pinned = keepParticipants(standing, options.participants);
  const pinnedIds = idsOf(pinned);
  const newestAt = turnStarts(kept).at(-1) ?? 0;
  const lifted = liftPinned(kept, newestAt);
  const { compaction } = read;
  const sources = {
    pinned: [...pinned, ...lifted.pinned],
    entries: lifted.entries,
    unread: read.unread,
    summary: compaction === null ? null : toSummary(compaction, kept.length > 0),
    facts,
    recalled: found.filter(({ entryId }) => !pinnedIds.has(entryId)),
  };
  const assembled = assembleContext(sources, { tokenBudget, recentTurns, counter });
  const context = pruned(checkFits(assembled, tokenBudget), options, scope);
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

/** Messages of the path that are in the context no more and bear on the newest user message. */
async function recallEvicted(
  scope: Scope,
  sessionId: string,
  context: ContextEntries,
  { recall, query, leaf, recentTurns, participants }: CheckedContext,
): Promise<readonly Excerpt[]> {
  const { entries } = context;
  const starts = turnStarts(entries);
  const newest = entries[starts.at(-1) ?? 0];
  const evicted = context.compaction !== null || context.unread > 0 || starts.length > recentTurns;
  if (recall === null || newest === undefined || !evicted || leaf !== undefined) return [];
  const words = query ?? textOf(newest.blocks).slice(0, QUERY_LENGTH);
  if (words.trim() === "") return [];
  const window = entries.slice(starts.at(-recentTurns) ?? 0);
  const [oldest] = window;
  const present = idsOf(window);
  const search = {
    match: "words" as const,
    ranking: RECALL_RANKING,
    session: sessionId,
    ...(oldest === undefined ? {} : { beforeSequence: oldest.sequence }),
    limit: recall.k,
    perSession: recall.k,
    contextBefore: 0,
    contextAfter: 0,
  };
  // The best messages of a session of any length, without reading all of it.
  const { hits } = await searchSessions(scope, words, search, "messages");
  return hits
    .filter(({ score }) => score >= recall.threshold)
    .flatMap(({ window }) => window.filter(({ entryId }) => !present.has(entryId)))
    .filter(({ actor }) => actor === null || participants === null || participants.has(actor))
    .map(({ entryId, role, actor, createdAt, snippet, truncated }) => {
      const text = truncated ? `${snippet}…` : snippet;
      return { sessionId, entryId, role, actor, createdAt, text, own: true };
    });
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
  assembled: AssembledContext | { readonly needed: number },
  tokenBudget: number,
): BuiltContext {
  if (!("needed" in assembled)) return assembled;
  const { needed } = assembled;
  throw new BackscrollError(
    "budget_too_small",
    `tokenBudget is ${tokenBudget}, but the pinned entries and the newest turn alone take ${needed} tokens; raise it to ${needed} at least, or unpin entries`,
    { details: { field: "tokenBudget", limit: tokenBudget, needed } },
  );
}
