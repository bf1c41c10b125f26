/**
 * Gap detection: checks that a page has every entry of its range.
 *
 * Along a path the depths of entries and the ordinals of messages count up by one; in a session the
 * sequences do. Annotations, which share the place of another entry, are left out.
 */

import { kindRules } from "../../model/entry.ts";
import type { PathEnd } from "../../transcript/path.ts";
import type { HistoryKinds } from "../entry-query.ts";
import type { EntryRecord } from "../records.ts";
import { sessionDamaged } from "./damage-errors.ts";

/** Messages with the ordinals `from` to `to`. */
export function checkMessages(
  sessionId: string,
  entries: readonly EntryRecord[],
  from: number,
  to: number,
): void {
  const expected = Math.max(0, to - from + 1);
  if (entries.length !== expected) {
    throw incomplete(sessionId, `${entries.length} of the messages ${from - 1} to ${to - 1}`);
  }
  for (let i = 0; i < entries.length; i++) {
    if (entries[i]?.ordinal !== from + i) throw outOfOrder(sessionId, entries[i]);
  }
  checkLinks(sessionId, entries);
}

/** The newest entries before `stop`, or up to `end`: all if they are fewer than `limit`. */
export function checkHistory(
  sessionId: string,
  entries: readonly EntryRecord[],
  range: {
    readonly end: PathEnd | null;
    readonly stop: PathEnd | undefined;
    readonly include: HistoryKinds;
    readonly limit: number;
  },
): void {
  const { end, stop, include, limit } = range;
  const isAll = entries.length < limit;
  const messages = entries.filter(({ kind }) => kind === "message");
  for (let i = 1; i < messages.length; i++) {
    if (messages[i]?.ordinal !== Number(messages[i - 1]?.ordinal) + 1) {
      throw outOfOrder(sessionId, messages[i]);
    }
  }
  checkLinks(sessionId, entries);
  // The last message before `stop` has its ordinal, or one less if `stop` is a message.
  const newest = stop?.ordinal ?? end?.ordinal ?? 0;
  const slack = stop === undefined ? 0 : 1;
  const last = messages.at(-1)?.ordinal ?? 0;
  const isLost = isAll
    ? messages.length > 0
      ? messages[0]?.ordinal !== 1 || last < newest - slack || last > newest
      : newest > slack
    : include === "messages" && (last < newest - slack || last > newest);
  if (isLost) throw incomplete(sessionId, `${messages.length} of up to ${newest} messages`);
  if (include !== "context") return;
  // Every entry with its own place on a path enters the context.
  checkDepths(
    sessionId,
    entries,
    isAll ? 1 : entries[0]?.depth,
    stop ? stop.depth - 1 : end?.depth,
  );
}

/** Entries of the path to `end` after the entry `after`: all if they are fewer than `limit`. */
export function checkPath(
  sessionId: string,
  entries: readonly EntryRecord[],
  range: {
    readonly end: PathEnd | null;
    readonly after: PathEnd | undefined;
    readonly limit: number;
  },
): void {
  const { end, after, limit } = range;
  const nodes = entries.filter(isNode);
  checkLinks(sessionId, nodes);
  const last = entries.length < limit ? (end?.depth ?? 0) : (nodes.at(-1)?.depth ?? after?.depth);
  checkDepths(sessionId, nodes, (after?.depth ?? 0) + 1, last);
}

/** Entries of a session by sequence, after `afterSequence`. */
export function checkTree(
  sessionId: string,
  entries: readonly EntryRecord[],
  range: { readonly afterSequence: number; readonly limit: number; readonly lastSequence: number },
): void {
  const { afterSequence, limit, lastSequence } = range;
  const expected = Math.max(0, Math.min(limit, lastSequence - afterSequence));
  const isWhole = entries.every(({ sequence }, i) => sequence === afterSequence + 1 + i);
  if (entries.length !== expected || !isWhole) {
    throw incomplete(
      sessionId,
      `${entries.length} of the entries ${afterSequence + 1} to ${afterSequence + expected}`,
    );
  }
}

/** Checks that the depths run from `first` to `last` without a gap. */
function checkDepths(
  sessionId: string,
  nodes: readonly EntryRecord[],
  first: number | undefined,
  last: number | undefined,
): void {
  const from = first ?? 1;
  const to = last ?? 0;
  for (let i = 0; i < nodes.length; i++) {
    if (nodes[i]?.depth !== from + i) throw outOfOrder(sessionId, nodes[i]);
  }
  if (nodes.length !== Math.max(0, to - from + 1)) {
    throw incomplete(sessionId, `${nodes.length} of the entries at the depths ${from} to ${to}`);
  }
}

/** Checks that each entry is the parent of the next. */
function checkLinks(sessionId: string, nodes: readonly EntryRecord[]): void {
  for (let i = 1; i < nodes.length; i++) {
    const [before, node] = [nodes[i - 1] as EntryRecord, nodes[i] as EntryRecord];
    if (node.depth === before.depth + 1 && node.parentId !== before.id) {
      throw outOfOrder(sessionId, node);
    }
  }
}

/** Whether an entry has its own place on a path. */
function isNode({ kind, status }: EntryRecord): boolean {
  return kindRules(kind).movesLeaf && status === "committed";
}

function incomplete(sessionId: string, found: string): Error {
  return sessionDamaged(sessionId, `only ${found} can be found`);
}

function outOfOrder(sessionId: string, entry: EntryRecord | undefined): Error {
  return sessionDamaged(sessionId, `entry ${entry?.id} does not follow the one before it`);
}
