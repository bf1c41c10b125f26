/**
 * Builds a model-ready context under a token budget.
 *
 * Reads from the leaf backwards only as far as needed. Omitted and summarised messages are searched
 * with the newest message as the query, and the best are quoted: a model often fails to use a
 * search tool when it should.
 */

import { continuationMessage } from "../../compaction/render.ts";
import { assembleContext, countFacts, countRules, type Omission } from "../../context/build.ts";
import type { ContextMessage } from "../../context/chat-model.ts";
import {
  type ChosenTurns,
  type ContextSummary,
  chooseWindow,
} from "../../context/choose-window.ts";
import { pruneToolResults } from "../../context/prune.ts";
import { type Provider, type RenderedContext, renderContext } from "../../context/render/render.ts";
import { countBlocks } from "../../context/tokens.ts";
import {
  liftPinned,
  orderForReply,
  startsTurn,
  turnStarts,
  waitingBehind,
} from "../../context/turns.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Fact } from "../../model/note.ts";
import { entryNotFound } from "../../store/store-errors.ts";
import { toolTraffic } from "../../transcript/tool-pairs.ts";
import { invalid } from "../check.ts";
import type { CompactionView } from "../compaction/compaction-entry.ts";
import type { EngineContext } from "../engine-context.ts";
import { rulesFor } from "../rules/offer-rules.ts";
import {
  type BuildContextInput,
  type CheckedContext,
  checkContextOptions,
} from "./context-options.ts";
import { idsOf, readContext } from "./read-context.ts";
import { recallEvicted, type ShownPast } from "./recall.ts";
import { findAll, readStanding } from "./standing.ts";

export interface BuiltContext {
  readonly messages: readonly ContextMessage[];
  /** Omitted parts, with reasons. */
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Blocks that were cut or left out to make a turn fit. */
  readonly shortened: number;
}

const NONE: ReadonlySet<string> = new Set();
/** The longest excerpt takes 256 tokens, and its enclosing text about a hundred. */
const RECALL_TOKENS = 400;
/** A longer turn is not read to its start, under any budget. */
const ENDLESS_TURN = { messages: 4_000, tokens: 4_000_000 };
/** How far before a turn the calls of its results are searched. */
const CALL_REACH = 64;

export async function buildContext(
  engine: EngineContext,
  sessionId: string,
  input: BuildContextInput,
): Promise<BuiltContext & { readonly rendered?: RenderedContext<Provider> }> {
  const options = checkContextOptions(input);
  const { counter } = engine;
  const { leaf, recentTurns, tokenBudget } = options;
  const read = await readContext(engine, sessionId, {
    counter,
    ...(leaf === undefined ? {} : { leaf }),
    isEnough: enough(recentTurns, tokenBudget, engine),
    // A question and an answer per turn, and some more; tools take another page.
    firstPage: Math.min(256, 2 * recentTurns + 8),
  });
  const message = await findAnswered(engine, sessionId, read.entries, options.replyTo);
  const visible = keepParticipants(read.entries, options.participants);
  const kept = message === undefined ? visible : orderForReply(visible, message);
  const { compaction, unread } = read;
  const present = idsOf(message === undefined ? read.entries : [...read.entries, message]);
  const stood = await readStanding(engine, sessionId, compaction, present, leaf, read.hasPins);
  const waits = message === undefined ? NONE : waitingBehind([...stood, ...read.entries], message);
  const standing = stood.filter(({ id }) => !waits.has(id));
  const lifted = liftPinned(kept, turnStarts(kept).at(-1) ?? 0);
  const pinned = [...keepParticipants(standing, options.participants), ...lifted.pinned];
  const summary = compaction === null ? null : toSummary(compaction, kept.length > 0);
  const recallTokens = options.recall === null || leaf !== undefined ? 0 : RECALL_TOKENS;
  const facts = options.includeFacts ? await readFacts(engine, sessionId) : [];
  const factTokens = countFacts(facts, counter);
  const question = message ?? kept.findLast(startsTurn);
  const rules = options.rules ? await rulesFor(engine, sessionId, question, options) : [];
  const ruleTokens = countRules(rules, counter);
  const window = checkFits(
    chooseWindow(
      { pinned, summary, entries: lifted.entries, unread },
      { tokenBudget, recentTurns, recallTokens, factTokens, ruleTokens, counter },
    ),
    tokenBudget,
  );
  // A candidate whose message is shown would be said twice.
  const said = idsOf([...pinned, ...lifted.entries.slice(window.from)]);
  const unsaid = rules.filter(
    ({ status, sourceEntry }) => status === "in_force" || !said.has(sourceEntry ?? ""),
  );
  const past = leaf === undefined ? shownPast(window, lifted.entries, pinned) : undefined;
  const recalled = past === undefined ? [] : await recallEvicted(engine, sessionId, past, options);
  const context = pruned(
    assembleContext(window, { facts, rules: unsaid, recalled }),
    options,
    engine,
  );
  const { provider, model } = options;
  if (provider === undefined) return context;
  const rendered = renderContext(context.messages, provider, model === undefined ? {} : { model });
  return { ...context, rendered };
}

function pruned(
  context: BuiltContext,
  { prune }: CheckedContext,
  { counter }: EngineContext,
): BuiltContext {
  if (prune === undefined) return context;
  const messages = pruneToolResults(context.messages, prune);
  const tokens = messages.reduce((sum, { blocks }) => sum + countBlocks(blocks, counter), 0);
  return { ...context, messages, tokens };
}

/** A summary in claw-code's format goes into a system message, as in claw-code. */
function toSummary({ entry, text, profile }: CompactionView, tailKept: boolean): ContextSummary {
  const summary = { entryId: entry.id, text };
  if (profile === "rich") return summary;
  return { ...summary, system: continuationMessage(text, { tailKept }) };
}

/** Reading ends with more turns or tokens than wanted, once no result lacks its call. */
function enough(
  recentTurns: number,
  tokenBudget: number,
  { counter }: EngineContext,
): (entry: Entry) => boolean {
  let turns = 0;
  let tokens = 0;
  /** Messages since the last turn start, and since there was enough. */
  let behind = 0;
  let beyond = 0;
  const waiting = new Set<string>();
  return (entry) => {
    for (const block of entry.blocks) tokens += counter.countBlock(block);
    const { calls, results } = toolTraffic(entry.blocks);
    for (const id of results) waiting.add(id);
    for (const id of calls) waiting.delete(id);
    const starts = startsTurn(entry);
    behind = starts ? 0 : behind + 1;
    if (starts) turns++;
    const isMany = turns > recentTurns || tokens > tokenBudget;
    if (isMany && turns > 0) beyond++;
    if (isMany && starts) return waiting.size === 0 || beyond > CALL_REACH;
    // A turn without an end or a start in sight.
    const isEndless = behind > ENDLESS_TURN.messages || tokens > ENDLESS_TURN.tokens;
    return isEndless && tokens > tokenBudget;
  };
}

/** Undefined if no past turn is omitted, or there is no newest turn. */
function shownPast(
  { older, from, newestAt, unread, summary, previous }: ChosenTurns,
  entries: readonly Entry[],
  pinned: readonly Entry[],
): ShownPast | undefined {
  const newest = entries[newestAt];
  const isPart = previous !== null && previous.left.length + previous.shortened > 0;
  const isWhole = (previous?.at ?? from) === 0 && !isPart && unread === 0 && summary === null;
  if (newest === undefined || isWhole) return undefined;
  const told = new Set(previous?.messages.flatMap(({ message }) => message.entryIds));
  const shown = new Set([...idsOf([...pinned, ...entries.slice(from)]), ...told]);
  const oldest = entries.slice(from, older.length)[0]?.sequence;
  // The answered message may precede all omitted ones.
  const afterLast = Math.max(newest.sequence, (entries[newestAt - 1]?.sequence ?? -1) + 1);
  return { newest, shown, beforeSequence: oldest ?? afterLast };
}

/** Oldest first: the newest 500. */
async function readFacts(engine: EngineContext, sessionId: string): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await engine.store.listFacts(engine.tenant, sessionId, after, MAX_PAGE, false);
    facts.push(...page);
    after = page.at(-1)?.id;
    if (page.length < MAX_PAGE) return facts.slice(-MAX_PAGE);
  }
}

function checkFits(
  window: ChosenTurns | { readonly needed: number },
  tokenBudget: number,
): ChosenTurns {
  if (!("needed" in window)) return window;
  const { needed } = window;
  throw new BackscrollError(
    "budget_too_small",
    `tokenBudget is ${tokenBudget}, but the pinned entries alone take ${needed} tokens; raise it to ${needed} at least, or unpin entries`,
    { details: { field: "tokenBudget", limit: tokenBudget, needed } },
  );
}

/** Searches the read entries first. Undefined if no message was named. */
async function findAnswered(
  engine: EngineContext,
  sessionId: string,
  read: readonly Entry[],
  id: string | undefined,
): Promise<Entry | undefined> {
  if (id === undefined) return undefined;
  const message = read.find((entry) => entry.id === id) ?? (await findAll(engine, [id]))[0];
  if (message?.sessionId !== sessionId) throw entryNotFound(id, sessionId);
  const { kind, role, status } = message;
  if (kind === "message" && role === "user" && status === "committed") return message;
  throw invalid("replyTo", `replyTo must name a message of a user; ${id} is none`);
}

/**
 * Keeps the messages of these actors; null keeps all. A tool message belongs to the caller of the
 * tool; messages without an actor (notes, system messages) are kept.
 */
function keepParticipants(
  entries: readonly Entry[],
  actors: ReadonlySet<string> | null,
): readonly Entry[] {
  if (actors === null) return entries;
  const kept = new Set<string>();
  return entries.filter((entry) => {
    if (entry.role === "tool") {
      return entry.blocks.some(
        (block) => block.type === "tool_result" && kept.has(block.toolUseId),
      );
    }
    if (entry.actor !== null && !actors.has(entry.actor)) return false;
    for (const block of entry.blocks) if (block.type === "tool_use") kept.add(block.id);
    return true;
  });
}
