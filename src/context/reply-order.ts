/**
 * Orders a conversation for answering one of its messages.
 *
 * Messages are stored on arrival and answered one after another, so other messages and their
 * answers may follow the one being answered. A model answers the last message, and some refuse a
 * conversation that ends with an answer: so the answered message is moved to the end.
 */

import { type Entry, replyToOf } from "../model/entry.ts";
import { toolTraffic } from "../transcript/tool-pairs.ts";
import { startsTurn } from "./turns.ts";

/**
 * `entries` with `message` moved (or added) to the end, followed by its own steps: answers that
 * name it in `replyTo`, the results of their calls, and the host's notes. Later messages of others
 * stand before it, except those that wait for their own answer. An erased message is not added.
 */
export function orderForReply(entries: readonly Entry[], message: Entry): readonly Entry[] {
  const own = stepsOf(entries, message.id);
  const waiting = waitingBehind(entries, message);
  const others: Entry[] = [];
  const behind: Entry[] = [];
  for (const entry of entries) {
    if (entry.id === message.id || waiting.has(entry.id)) continue;
    const follows = entry.sequence > message.sequence && (own.has(entry.id) || !isSpoken(entry));
    (follows ? behind : others).push(entry);
  }
  return [...others, ...(message.erased ? [] : [message]), ...behind];
}

/** Unanswered user messages after `message`: each gets its own turn later. */
export function waitingBehind(
  entries: readonly Entry[],
  { id, sequence }: Entry,
): ReadonlySet<string> {
  const own = stepsOf(entries, id);
  const places = new Map(entries.map((entry) => [entry.id, entry.sequence]));
  let answered = sequence;
  for (const entry of entries) {
    if (entry.role !== "assistant" || own.has(entry.id)) continue;
    // An answer without `replyTo` answers everything before it. A missing message precedes all of
    // these.
    const to = replyToOf(entry);
    answered = Math.max(answered, to === null ? entry.sequence : (places.get(to) ?? 0));
  }
  const waiting = entries.filter(
    (entry) => startsTurn(entry) && !entry.pinned && entry.sequence > answered,
  );
  return new Set(waiting.map((entry) => entry.id));
}

/** The ids of the entries that belong to the answer to `messageId`. */
function stepsOf(entries: readonly Entry[], messageId: string): ReadonlySet<string> {
  const steps = new Set<string>();
  /** Whether the newest call of an id belongs to the answer: agents may reuse ids. */
  const isOwnCall = new Map<string, boolean>();
  for (const entry of entries) {
    const { calls, results } = toolTraffic(entry.blocks);
    const isStep = entry.role === "assistant" && replyToOf(entry) === messageId;
    if (isStep || results.some((call) => isOwnCall.get(call))) steps.add(entry.id);
    for (const call of calls) isOwnCall.set(call, isStep);
  }
  return steps;
}

function isSpoken({ kind, role }: Entry): boolean {
  return kind === "message" && role !== "system";
}
