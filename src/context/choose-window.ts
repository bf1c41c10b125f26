/**
 * The sliding window: chooses the turns of a context under a budget.
 *
 * It runs before recall, which searches the omitted entries. Room goes by priority: pinned entries,
 * the newest turn, the summary, older turns. Each part gets all of its room before the next, so a
 * larger budget never shows less of any part.
 */

import type { Block, ToolResultBlock } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import type { ContextPart } from "./chat-model.ts";
import { cutText, noteOf, outputText } from "./cut-text.ts";
import { type FittedTurn, fitPinned, fitTurn } from "./fit-turn.ts";
import { quoteSummary } from "./quote.ts";
import {
  fromEntry,
  fromText,
  leadingTokens,
  type SentSized,
  type SentSizer,
  sentSizer,
  sumSent,
  withSent,
} from "./sent-tokens.ts";
import type { TokenCounter } from "./tokens.ts";
import { hopStarts, startsTurn, turnStarts } from "./turns.ts";

export interface WindowSources {
  /** Pinned entries, in order, none of them among `entries`. */
  readonly pinned: readonly Entry[];
  readonly summary: ContextSummary | null;
  /** The newest part of the conversation, in order: at least the newest turn. */
  readonly entries: readonly Entry[];
  /** Messages before `entries` that were not read. */
  readonly unread: number;
}

export interface ContextSummary {
  readonly entryId: string;
  readonly text: string;
  /**
   * The text of a system message for the summary, if the host wants one; else a user message holds
   * it.
   */
  readonly system?: string;
}

export interface ContextLimits {
  readonly tokenBudget: number;
  readonly recentTurns: number;
  /** Room that older turns leave for recalled messages. Default: 0. */
  readonly recallTokens?: number;
  /** Tokens of all facts: older turns leave a quarter of their room for them. Default 0. */
  readonly factTokens?: number;
  /** Tokens of all rules: they get up to half of the room after the summary. Default 0. */
  readonly ruleTokens?: number;
  readonly counter: TokenCounter;
}

export interface ChosenTurns {
  readonly pinned: FittedTurn;
  readonly summary: SentSized | null;
  /** Whether the summary is shown, cut or whole. */
  readonly hasSummary: boolean;
  /** The index of the newest turn's start. */
  readonly newestAt: number;
  readonly newest: FittedTurn;
  /** Turns before the newest one. */
  readonly older: readonly SentSized[];
  /** The first older turn wanted, and the first that fits. */
  readonly wanted: number;
  readonly from: number;
  /** The turn before the newest, cut to fit, where no older turn fits whole. */
  readonly previous: PreviousTurn | null;
  readonly unread: number;
  /** The turn limit is reached: unread turns are not omitted for lack of room. */
  readonly hasTurns: boolean;
  /** Room for facts and recalled messages together, and for facts alone. */
  readonly room: number;
  readonly factRoom: number;
  /** Room for rules, not counted in `room`. */
  readonly ruleRoom: number;
  readonly counter: TokenCounter;
}

export interface PreviousTurn extends FittedTurn {
  /** Its index among the older messages. */
  readonly at: number;
}

/** A turn is left out rather than cut below this. */
const LEAST_TURN_TOKENS = 200;
/** A summary is left out rather than cut below this. */
const LEAST_SUMMARY_TOKENS = 100;

/** Gives the needed tokens if pinned entries do not fit. */
export function chooseWindow(
  { pinned: standing, summary: told, entries, unread }: WindowSources,
  limits: ContextLimits,
): ChosenTurns | { readonly needed: number } {
  const { tokenBudget, recentTurns, recallTokens = 0, factTokens = 0, ruleTokens = 0 } = limits;
  const { counter } = limits;
  const starts = turnStarts(entries);
  const newestAt = starts.at(-1) ?? 0;
  const shown = orphansAsText(entries);
  const stays = orphansAsText(standing);
  const sizer = sentSizer([...stays, ...shown], counter);
  const sized = (list: readonly Entry[], part: ContextPart) =>
    list.map((entry) => withSent(fromEntry(entry, part, counter), sizer));

  let room = tokenBudget - leadingTokens(counter);
  const pinned = fitPinned(sized(stays, "pinned"), room, sizer);
  if (pinned.sent > room) return { needed: pinned.sent + leadingTokens(counter) };
  room -= pinned.sent;

  const turn = sized(shown.slice(newestAt), "recent");
  const newest = fitTurn(turn, room, sizer, hasQuestion(entries, newestAt));
  const older = sized(shown.slice(0, newestAt), "recent");
  const wanted = windowStart(entries, starts, recentTurns, unread);
  const hasTurns = starts.length >= recentTurns;
  const whole = summaryMessage(told, sizer);
  const common = { pinned, newestAt, newest, older, wanted, unread, hasTurns, counter };
  const nothingMore = {
    ...common,
    from: older.length,
    previous: null,
    room: 0,
    factRoom: 0,
    ruleRoom: 0,
  };
  if (newest.sent < sumSent(turn)) return { ...nothingMore, summary: whole, hasSummary: false };
  room -= newest.sent;

  const summary = whole === null || whole.sent <= room ? whole : cutSummary(told, room, sizer);
  if (whole !== null && whole.sent > room) {
    return { ...nothingMore, summary: summary ?? whole, hasSummary: summary !== null };
  }
  room -= whole?.sent ?? 0;

  const ruleRoom = Math.min(ruleTokens, Math.floor(room / 2));
  room -= ruleRoom;
  const facts = Math.min(factTokens, Math.floor(room / 4));
  const isWhole = wanted === 0 && unread === 0 && whole === null && sumSent(older) <= room - facts;
  const reserved = isWhole ? 0 : Math.min(recallTokens, Math.floor(room / 2));
  const free = room - Math.max(reserved, facts);
  const from = startWithin(entries, starts, wanted, older, free, unread);
  const previous =
    from < older.length || older.length === 0 || recentTurns < 2 || free < LEAST_TURN_TOKENS
      ? null
      : previousTurn(entries, older, starts.at(-2) ?? 0, free, sizer);
  room -= sumSent(older.slice(from)) + (previous?.sent ?? 0);
  const isPreviousWhole = previous !== null && previous.shortened + previous.left.length === 0;
  const isAll = previous === null ? from === wanted : isPreviousWhole && previous.at <= wanted;
  const factRoom = isAll ? room : facts;
  const hasSummary = summary !== null;
  return { ...common, summary, hasSummary, from, previous, room, factRoom, ruleRoom };
}

/** The turn that ends where the newest begins, cut to `room`. */
function previousTurn(
  entries: readonly Entry[],
  older: readonly SentSized[],
  at: number,
  room: number,
  sizer: SentSizer,
): PreviousTurn {
  return { ...fitTurn(older.slice(at), room, sizer, hasQuestion(entries, at)), at };
}

function hasQuestion(entries: readonly Entry[], at: number): boolean {
  const first = entries[at];
  return first !== undefined && startsTurn(first);
}

/** The start of the window if everything fits. */
function windowStart(
  entries: readonly Entry[],
  starts: readonly number[],
  recentTurns: number,
  unreadMessages: number,
): number {
  if (starts.length <= recentTurns && unreadMessages === 0) return 0;
  const earliest = starts.at(-Math.max(1, recentTurns)) ?? starts[0] ?? 0;
  return nextHop(entries, starts, earliest, unreadMessages);
}

/** The first start from `wanted` on whose remainder fits. */
function startWithin(
  entries: readonly Entry[],
  starts: readonly number[],
  wanted: number,
  older: readonly SentSized[],
  room: number,
  unreadMessages: number,
): number {
  let tokens = sumSent(older.slice(wanted));
  if (tokens <= room) return wanted;
  let at = wanted;
  for (const start of [...starts, older.length]) {
    if (start <= at) continue;
    tokens -= sumSent(older.slice(at, start));
    at = start;
    if (tokens <= room) break;
  }
  return nextHop(entries, starts, at, unreadMessages);
}

/** The next hop (see `hopStarts`); `at` itself if none is left. */
function nextHop(
  entries: readonly Entry[],
  starts: readonly number[],
  at: number,
  unreadMessages: number,
): number {
  return hopStarts(entries, starts, unreadMessages > 0).find((hop) => hop >= at) ?? at;
}

function summaryMessage(summary: ContextSummary | null, sizer: SentSizer): SentSized | null {
  return summary === null ? null : sayingSummary(summary, wordsOf(summary), sizer);
}

/** Null if the room is too small for any part. */
function cutSummary(
  summary: ContextSummary | null,
  room: number,
  sizer: SentSizer,
): SentSized | null {
  if (summary === null || room < LEAST_SUMMARY_TOKENS) return null;
  const say = (words: string) => sayingSummary(summary, words, sizer);
  const note = noteOf(summary.entryId);
  const cut = say(cutText(wordsOf(summary), room, (words) => say(words).sent, note));
  return cut.sent <= room ? cut : null;
}

function wordsOf({ text, system }: ContextSummary): string {
  return system ?? text;
}

function sayingSummary(summary: ContextSummary, words: string, sizer: SentSizer): SentSized {
  const { entryId, system } = summary;
  const isSystem = system !== undefined;
  const text = isSystem ? words : quoteSummary(words);
  const role = isSystem ? "system" : "user";
  return withSent(fromText(text, "summary", [entryId], sizer.counter, role), sizer);
}

/**
 * Shows tool results without a call as text.
 *
 * No provider accepts a result without its call, so a renderer would drop it. It may be all that a
 * session has.
 *
 * Returns the same array if there is nothing to change.
 */
function orphansAsText(entries: readonly Entry[]): readonly Entry[] {
  const called = new Set<string>();
  let isChanged = false;
  const told = entries.map((entry) => {
    const orphans = entry.blocks.filter(
      (block) => block.type === "tool_result" && !called.has(block.toolUseId),
    );
    for (const block of entry.blocks) if (block.type === "tool_use") called.add(block.id);
    if (orphans.length === 0) return entry;
    isChanged = true;
    const lost = new Set<Block>(orphans);
    const blocks = entry.blocks.map((block) =>
      block.type === "tool_result" && lost.has(block) ? tell(block) : block,
    );
    return { ...entry, blocks };
  });
  return isChanged ? told : entries;
}

function tell(result: ToolResultBlock): Block {
  const name = result.toolName ?? "";
  const tool = name === "" ? "a tool" : name;
  const words = outputText(result);
  const text = `[result of a call to ${tool} that is not here]\n${words === "" ? "(no output)" : words}`;
  return { type: "text", text };
}
