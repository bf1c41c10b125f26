/**
 * What the model is given, under a budget.
 *
 * Order: pinned entries, the summary, facts, older turns, what was recalled, the newest turn. All that
 * comes before the recalled part changes rarely and at its end, so that a provider's prompt cache
 * hits. Over budget, recalled messages yield first, then facts, then older turns, then the summary;
 * pinned entries and the newest turn never do.
 */

import type { Entry } from "../model/entry.ts";
import type { Fact } from "../model/note.ts";
import { fitNewest } from "./fit-newest.ts";
import type { ContextMessage, ContextPart } from "./message.ts";
import {
  type Excerpt,
  quoteExcerpt,
  quoteFact,
  quoteFacts,
  quoteRecalled,
  quoteSummary,
} from "./quote.ts";
import { fromEntry, fromText, type Sized, sumTokens } from "./sized.ts";
import type { TokenCounter } from "./tokens.ts";
import { hopStarts, turnStarts } from "./turns.ts";

export interface ContextSources {
  /** Entries that stay whatever is summarised, in order, none of them among `entries`. */
  readonly pinned: readonly Entry[];
  readonly summary: ContextSummary | null;
  /** In the order in which they were learned: the oldest yields first. */
  readonly facts: readonly Fact[];
  /** The best first. */
  readonly recalled: readonly Excerpt[];
  /** The newest part of the conversation, in order: at least the newest turn. */
  readonly entries: readonly Entry[];
  /** Messages of the context before `entries` that were not even read. */
  readonly unread: number;
}

export interface ContextSummary {
  readonly entryId: string;
  readonly text: string;
  /** The text of a system message, where the host wants the summary so; else a user message. */
  readonly system?: string;
}

export interface ContextLimits {
  readonly tokenBudget: number;
  readonly recentTurns: number;
  readonly counter: TokenCounter;
}

/** Something that could have been in the context and is not. */
export interface Omission {
  readonly part: ContextPart;
  readonly reason: "budget" | "recent_turns";
  readonly count: number;
  /** Null for what was not even read. */
  readonly tokens: number | null;
  /** The entries or facts, at most 100 of them. */
  readonly ids: readonly string[];
}

export interface AssembledContext {
  readonly messages: readonly ContextMessage[];
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened to make the newest turn fit. */
  readonly shortened: number;
}

/** Gives the tokens that would be needed if even the newest turn does not fit. */
export function assembleContext(
  sources: ContextSources,
  { tokenBudget, recentTurns, counter }: ContextLimits,
): AssembledContext | { readonly needed: number } {
  const { entries } = sources;
  const starts = turnStarts(entries);
  const newestAt = starts.at(-1) ?? 0;
  const pinned = sources.pinned.map((entry) => fromEntry(entry, "pinned", counter));
  const fixed = sumTokens(pinned);
  const newest = fitNewest(entries.slice(newestAt), tokenBudget - fixed, counter);
  if ("needed" in newest) return { needed: newest.needed + fixed };
  let room = tokenBudget - fixed - newest.tokens;

  // What yields last is given room first.
  const summary = summaryMessage(sources.summary, counter);
  const hasSummary = summary !== null && summary.tokens <= room;
  if (hasSummary) room -= summary.tokens;

  const older = entries.slice(0, newestAt).map((entry) => fromEntry(entry, "recent", counter));
  const wanted = windowStart(entries, starts, recentTurns, sources.unread);
  const from = startWithin(entries, starts, wanted, older, room);
  room -= sumTokens(older.slice(from));

  // What is left belongs to the parts that have yielded: turns go whole, and leave room behind.
  const facts = takeFacts(sources.facts, room, counter);
  room -= facts.tokens;
  const recalled = takeRecalled(sources.recalled, room, counter);

  const parts: Sized[] = [
    ...pinned,
    ...(hasSummary ? [summary] : []),
    ...facts.messages,
    ...older.slice(from),
    ...recalled.messages,
    ...newest.messages,
  ];
  return {
    messages: parts.map(({ message }) => message),
    omitted: [
      ...(summary === null || hasSummary ? [] : [omission("summary", "budget", [summary])]),
      ...omitIds("facts", sources.facts.slice(0, sources.facts.length - facts.count)),
      ...(sources.unread === 0 ? [] : [unread(sources.unread, starts.length >= recentTurns)]),
      ...(wanted === 0 ? [] : [omission("recent", "recent_turns", older.slice(0, wanted))]),
      ...(from === wanted ? [] : [omission("recent", "budget", older.slice(wanted, from))]),
      ...omitIds(
        "recalled",
        sources.recalled.slice(recalled.count).map(({ entryId }) => ({ id: entryId })),
      ),
    ],
    tokens: sumTokens(parts),
    shortened: newest.shortened,
  };
}

/** Where the window over the past begins if there is room for all of it. */
function windowStart(
  entries: readonly Entry[],
  starts: readonly number[],
  recentTurns: number,
  unreadMessages: number,
): number {
  if (starts.length <= recentTurns && unreadMessages === 0) return 0;
  const earliest = starts.at(-Math.max(1, recentTurns)) ?? starts[0] ?? 0;
  return nextHop(entries, starts, earliest);
}

/** The first place to begin at, from `wanted` on, at which what follows fits. */
function startWithin(
  entries: readonly Entry[],
  starts: readonly number[],
  wanted: number,
  older: readonly Sized[],
  room: number,
): number {
  let tokens = sumTokens(older.slice(wanted));
  if (tokens <= room) return wanted;
  let at = wanted;
  for (const start of [...starts, older.length]) {
    if (start <= at) continue;
    tokens -= sumTokens(older.slice(at, start));
    at = start;
    if (tokens <= room) break;
  }
  return nextHop(entries, starts, at);
}

/** The next place where a window may begin and stay for a while; `at` itself if none is left. */
function nextHop(entries: readonly Entry[], starts: readonly number[], at: number): number {
  return hopStarts(entries, starts).find((hop) => hop >= at) ?? at;
}

interface Taken {
  readonly count: number;
  readonly tokens: number;
  /** One message, or none. */
  readonly messages: readonly Sized[];
}

const NOTHING: Taken = { count: 0, tokens: 0, messages: [] };

/** The newest facts that fit. */
function takeFacts(facts: readonly Fact[], room: number, counter: TokenCounter): Taken {
  return most(facts.length, room, (count) => {
    const chosen = facts.slice(facts.length - count);
    const ids = chosen.map(({ id }) => id);
    return fromText(quoteFacts(chosen.map(quoteFact)), "facts", ids, counter);
  });
}

/** The best excerpts that fit. */
function takeRecalled(excerpts: readonly Excerpt[], room: number, counter: TokenCounter): Taken {
  return most(excerpts.length, room, (count) => {
    const chosen = excerpts.slice(0, count);
    const ids = chosen.map(({ entryId }) => entryId);
    return fromText(quoteRecalled(chosen.map(quoteExcerpt)), "recalled", ids, counter);
  });
}

/** The greatest number of things whose message fits. More things never take less. */
function most(total: number, room: number, message: (count: number) => Sized): Taken {
  let taken = NOTHING;
  let [low, high] = [1, total];
  while (low <= high) {
    const count = Math.ceil((low + high) / 2);
    const tried = message(count);
    if (tried.tokens <= room) {
      taken = { count, tokens: tried.tokens, messages: [tried] };
      low = count + 1;
    } else {
      high = count - 1;
    }
  }
  return taken;
}

function summaryMessage(summary: ContextSummary | null, counter: TokenCounter): Sized | null {
  if (summary === null) return null;
  const ids = [summary.entryId];
  if (summary.system !== undefined) {
    return fromText(summary.system, "summary", ids, counter, "system");
  }
  return fromText(quoteSummary(summary.text), "summary", ids, counter);
}

const MAX_IDS = 100;

function omission(
  part: ContextPart,
  reason: Omission["reason"],
  items: readonly Sized[],
): Omission {
  const ids = items.flatMap(({ message }) => message.entryIds).slice(0, MAX_IDS);
  return { part, reason, count: items.length, tokens: sumTokens(items), ids };
}

function omitIds(part: ContextPart, items: readonly { readonly id: string }[]): Omission[] {
  if (items.length === 0) return [];
  const ids = items.map(({ id }) => id).slice(0, MAX_IDS);
  return [{ part, reason: "budget", count: items.length, tokens: null, ids }];
}

function unread(count: number, hasTurns: boolean): Omission {
  const reason = hasTurns ? "recent_turns" : "budget";
  return { part: "recent", reason, count, tokens: null, ids: [] };
}
