/**
 * Builds a context under a token budget.
 *
 * Order: pinned entries, the summary, facts, older turns, rules, recalled messages, the newest turn.
 * The parts before the rules change rarely and only at their end, so a provider's prompt cache hits.
 * Over budget, recalled messages yield first, then facts and older turns, then rules, then the
 * summary, then parts of the newest turn; pinned entries never yield.
 */

import type { OMISSION } from "../model/answers/context.ts";
import type { Fact, Rule } from "../model/note.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { ContextMessage, ContextPart } from "./chat-model.ts";
import type { ChosenTurns } from "./choose-window.ts";
import {
  type Excerpt,
  quoteExcerpt,
  quoteFact,
  quoteFacts,
  quoteRecalled,
  quoteRule,
  quoteRules,
} from "./quote.ts";
import { fromText, type Sized, sumTokens } from "./sent-tokens.ts";
import type { TokenCounter } from "./tokens.ts";

/** Facts, rules and recalled messages, placed in the window if there is room. */
export interface ContextExtras {
  /** Oldest first; the oldest yield first. */
  readonly facts: readonly Fact[];
  /** Best first. */
  readonly rules?: readonly Rule[];
  /** Best first. */
  readonly recalled: readonly Excerpt[];
}

/** Content that was left out of the context. */
export interface Omission extends FieldsOf<typeof OMISSION> {}

export interface AssembledContext {
  readonly messages: readonly ContextMessage[];
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Blocks of the messages that were cut or left out to make a turn fit. */
  readonly shortened: number;
}

export function assembleContext(window: ChosenTurns, extras: ContextExtras): AssembledContext {
  const { pinned, summary, hasSummary, older, newest, previous, counter, from } = window;
  const wanted = Math.min(window.wanted, previous?.at ?? window.wanted);
  const shownFrom = previous?.at ?? from;
  // Turns are dropped whole, which leaves room: give it to the parts that were cut.
  const facts = takeFacts(extras.facts, window.factRoom, counter);
  const offered = extras.rules ?? [];
  const rules = takeRules(offered, window.ruleRoom, counter);
  const room = window.room + window.ruleRoom - rules.tokens - facts.tokens;
  const recalled = takeRecalled(extras.recalled, room, counter);

  const parts: Sized[] = [
    ...pinned.messages,
    ...(summary !== null && hasSummary ? [summary] : []),
    ...facts.messages,
    ...(previous?.messages ?? older.slice(from)),
    ...rules.messages,
    ...recalled.messages,
    ...newest.messages,
  ];
  const left = [...older.slice(wanted, shownFrom), ...(previous?.left ?? []), ...newest.left];
  return {
    messages: parts.map(({ message }) => message),
    omitted: [
      ...(summary === null || hasSummary ? [] : [omission("summary", "budget", [summary])]),
      ...omitIds("facts", extras.facts.slice(0, extras.facts.length - facts.count)),
      ...omitIds("rules", offered.slice(rules.count)),
      ...(window.unread === 0 ? [] : [unread(window.unread, window.hasTurns)]),
      ...(wanted === 0 ? [] : [omission("recent", "recent_turns", older.slice(0, wanted))]),
      ...(left.length === 0 ? [] : [omission("recent", "budget", left)]),
      ...omitIds(
        "recalled",
        extras.recalled.slice(recalled.count).map(({ entryId }) => ({ id: entryId })),
      ),
    ],
    tokens: sumTokens(parts),
    shortened: pinned.shortened + (previous?.shortened ?? 0) + newest.shortened,
  };
}

/** Tokens of all facts, before a window is chosen. */
export function countFacts(facts: readonly Fact[], counter: TokenCounter): number {
  return takeFacts(facts, Number.POSITIVE_INFINITY, counter).tokens;
}

/** What rules may take of a context. */
const RULE_TOKENS = 400;

/** Tokens of the rules within their budget, before a window is chosen. */
export function countRules(rules: readonly Rule[], counter: TokenCounter): number {
  return takeRules(rules, RULE_TOKENS, counter).tokens;
}

interface Taken {
  readonly count: number;
  /** Tokens, with a renderer's additions. */
  readonly tokens: number;
  /** One message or none. */
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

/** The best rules that fit. */
function takeRules(rules: readonly Rule[], room: number, counter: TokenCounter): Taken {
  return most(rules.length, room, (count) => {
    const chosen = rules.slice(0, count);
    const ids = chosen.map(({ id }) => id);
    return fromText(quoteRules(chosen.map(quoteRule)), "rules", ids, counter);
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

/** Tokens that a renderer may add to the host's text: see sent-tokens.ts. */
const HOST_TEXT_TOKENS = 4;

/**
 * Binary search for the largest prefix whose message fits. A longer prefix never takes fewer
 * tokens.
 */
function most(total: number, room: number, message: (count: number) => Sized): Taken {
  let taken = NOTHING;
  let [low, high] = [1, total];
  while (low <= high) {
    const count = Math.ceil((low + high) / 2);
    const tried = message(count);
    const tokens = tried.tokens + HOST_TEXT_TOKENS;
    if (tokens <= room) {
      taken = { count, tokens, messages: [tried] };
      low = count + 1;
    } else {
      high = count - 1;
    }
  }
  return taken;
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
