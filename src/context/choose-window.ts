/**
 * Which turns are shown, under a budget.
 *
 * It is decided before anything is searched for: what is not shown is what may be recalled. What yields
 * last is given room first: pinned entries and the newest turn, then the summary, then older turns.
 */

import type { Entry } from "../model/entry.ts";
import { type FittedTurn, fitNewest } from "./fit-newest.ts";
import { quoteSummary } from "./quote.ts";
import { fromEntry, fromText, type Sized, sumTokens } from "./sized.ts";
import type { TokenCounter } from "./tokens.ts";
import { hopStarts, turnStarts } from "./turns.ts";

export interface WindowSources {
  /** Entries that stay whatever is summarised, in order, none of them among `entries`. */
  readonly pinned: readonly Entry[];
  readonly summary: ContextSummary | null;
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
  /** What older turns leave for what is recalled of those that are left out; 0 if left out. */
  readonly recallTokens?: number;
  readonly counter: TokenCounter;
}

export interface ContextWindow {
  readonly pinned: readonly Sized[];
  readonly summary: Sized | null;
  /** Whether there was room for it. */
  readonly hasSummary: boolean;
  /** Where the newest turn begins. */
  readonly newestAt: number;
  readonly newest: FittedTurn;
  /** What stands before the newest turn. */
  readonly older: readonly Sized[];
  /** The first of `older` that is shown if there is room, and the first that is. */
  readonly wanted: number;
  readonly from: number;
  readonly unread: number;
  /** There are as many turns as are wanted: what was not read is not missed for want of room. */
  readonly hasTurns: boolean;
  /** What is left for facts and for what is recalled. */
  readonly room: number;
  readonly counter: TokenCounter;
}

/** Gives the tokens that would be needed if even the newest turn does not fit. */
export function chooseWindow(
  { pinned: standing, summary: told, entries, unread }: WindowSources,
  { tokenBudget, recentTurns, recallTokens = 0, counter }: ContextLimits,
): ContextWindow | { readonly needed: number } {
  const starts = turnStarts(entries);
  const newestAt = starts.at(-1) ?? 0;
  const pinned = standing.map((entry) => fromEntry(entry, "pinned", counter));
  const fixed = sumTokens(pinned);
  const newest = fitNewest(entries.slice(newestAt), tokenBudget - fixed, counter);
  if ("needed" in newest) return { needed: newest.needed + fixed };
  let room = tokenBudget - fixed - newest.tokens;

  const summary = summaryMessage(told, counter);
  const hasSummary = summary !== null && summary.tokens <= room;
  if (hasSummary) room -= summary.tokens;

  const older = entries.slice(0, newestAt).map((entry) => fromEntry(entry, "recent", counter));
  const wanted = windowStart(entries, starts, recentTurns, unread);
  const isWhole = wanted === 0 && unread === 0 && summary === null && sumTokens(older) <= room;
  const reserved = isWhole ? 0 : Math.min(recallTokens, Math.floor(room / 2));
  const from = startWithin(entries, starts, wanted, older, room - reserved);
  room -= sumTokens(older.slice(from));
  const hasTurns = starts.length >= recentTurns;
  return {
    ...{ pinned, summary, hasSummary, newestAt, newest, older, wanted, from },
    ...{ unread, hasTurns, room, counter },
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

function summaryMessage(summary: ContextSummary | null, counter: TokenCounter): Sized | null {
  if (summary === null) return null;
  const ids = [summary.entryId];
  if (summary.system !== undefined) {
    return fromText(summary.system, "summary", ids, counter, "system");
  }
  return fromText(quoteSummary(summary.text), "summary", ids, counter);
}
