/** Turns of a path, and their order in a context. */

import { type Entry, replyToOf } from "../model/entry.ts";
import { legalCuts, toolTraffic } from "../transcript/tool-pairs.ts";

// Turns: a user's message and everything up to the next one.
//
// A context is cut between turns: a model that sees an answer without its question has to guess the
// question.

/** A user's message without tool results: some agents store those under the user's role. */
export function startsTurn(entry: Pick<Entry, "kind" | "role" | "blocks">): boolean {
  if (entry.kind !== "message" || entry.role !== "user") return false;
  return entry.blocks.length === 0 || entry.blocks.some((block) => block.type !== "tool_result");
}

/**
 * The indices where a turn starts and the list may be cut, in order. Without a turn start (only
 * agents speak, or the start of a long turn was summarised), every legal cut counts as one.
 */
export function turnStarts(entries: readonly Entry[]): number[] {
  const legal = legalCuts(entries.map(({ blocks }) => toolTraffic(blocks)));
  const starts = entries.flatMap((entry, i) => (startsTurn(entry) && legal[i] ? [i] : []));
  if (starts.length > 0) return starts;
  return entries.flatMap((_, i) => (legal[i] ? [i] : []));
}

/** Messages between two possible starts of the window. */
const HOP_MESSAGES = 16;

/**
 * The possible starts of the window, which moves in hops: the first turn in each run of 16 messages
 * of the path. A window that moved with each turn would change the head of every prompt and miss
 * the provider's prompt cache. The starts depend on the path alone, so they need no stored state.
 * If the read part begins inside a run (`isPartial`), it is unknown whether its first turn is the
 * run's first.
 */
export function hopStarts(
  entries: readonly Entry[],
  starts: readonly number[],
  isPartial = false,
): number[] {
  let last = -1;
  return starts.filter((start, i) => {
    const index = entries[start]?.index ?? 0;
    const run = Math.floor(index / HOP_MESSAGES);
    const first = run !== last;
    last = run;
    return first && !(isPartial && i === 0 && index % HOP_MESSAGES !== 0);
  });
}

/** Takes the pinned entries before `end`, each with the messages that its tool calls tie to it. */
export function liftPinned(
  entries: readonly Entry[],
  end: number,
): { readonly pinned: readonly Entry[]; readonly entries: readonly Entry[] } {
  const older = entries.slice(0, end);
  if (!older.some((entry) => entry.pinned)) return { pinned: [], entries };
  const legal = legalCuts(entries.map(({ blocks }) => toolTraffic(blocks)));
  const pinned: Entry[] = [];
  const rest: Entry[] = [];
  let group: Entry[] = [];
  older.forEach((entry, i) => {
    group.push(entry);
    if (i + 1 < end && !legal[i + 1]) return;
    (group.some((member) => member.pinned) ? pinned : rest).push(...group);
    group = [];
  });
  return { pinned, entries: [...rest, ...entries.slice(end)] };
}

// Orders a conversation for answering one of its messages.
//
// Messages are stored on arrival and answered one after another, so other messages and their
// answers may follow the one being answered. A model answers the last message, and some refuse a
// conversation that ends with an answer: so the answered message is moved to the end.

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
