/**
 * Plans an append: the rows with their hash chain, the counters and the feed changes.
 *
 * A backend reads the session's state under its lock, computes this plan, and executes it in the
 * same transaction. So both backends store the same places, hashes, counters and feed rows.
 */

import { randomFillSync } from "node:crypto";
import type { ChangeKind } from "../../model/change.ts";
import { kindRules, type Usage } from "../../model/entry.ts";
import {
  digest,
  entryHex,
  fromHex,
  type HashedChange,
  NONCE_BYTES,
} from "../../transcript/hash.ts";
import { type Chain, Placer, type Point, type TreePlace } from "../../transcript/place.ts";
import type { AppendRequest, NewEntry, PlacedEntry } from "../records.ts";
import { type EntryRow, hashedColumns } from "../rows/entry-row.ts";
import { checkExpectedLeaf, checkNode, entryNotFound } from "../store-errors.ts";

/** The part of a session that an append reads and updates. */
export interface SessionState {
  readonly sessionId: string;
  readonly leaf: Point | null;
  readonly lastSequence: number;
  readonly lastChain: number;
  /** The hash that the session's roots continue: the fork point's hash, or zeros. */
  readonly rootHash: Uint8Array;
  readonly updatedAt: number;
  readonly lastInteractionAt: number;
}

/** The columns of a session's leaf, in the order of the statements that move it. */
export function leafValues(leaf: Point | null): readonly (string | number | Uint8Array | null)[] {
  if (leaf === null) return [null, null, null, null, null, null, 0];
  const { id, sequence, chain, depth, ordinal, hash, atTip } = leaf;
  return [id, sequence, chain, depth, ordinal, hash, atTip ? 1 : 0];
}

export interface NewChange extends HashedChange {
  readonly kind: ChangeKind;
  /** JSON text. */
  readonly details: string | null;
}

export interface AppendPlan {
  readonly rows: readonly EntryRow[];
  readonly chains: readonly Chain[];
  readonly changes: readonly NewChange[];
  readonly superseded: readonly { readonly id: string; readonly by: string }[];
  readonly actors: readonly string[];
  readonly leaf: Point | null;
  readonly lastSequence: number;
  readonly lastChain: number;
  readonly messages: number;
  readonly contentBytes: number;
  readonly usage: Usage;
  readonly updatedAt: number;
  readonly lastInteractionAt: number;
  /** Whether `lastInteractionAt` has moved. */
  readonly interacted: boolean;
}

/** The stored entries that a request names: the backend looks these up before it plans. */
export function namedEntries(entries: readonly NewEntry[]): string[] {
  if (entries.every((entry) => entry.parentId === undefined && entry.supersedes === undefined)) {
    return [];
  }
  const own = new Set(entries.map((entry) => entry.id));
  const named = new Set<string>();
  for (const { parentId, supersedes } of entries) {
    if (typeof parentId === "string" && !own.has(parentId)) named.add(parentId);
    if (supersedes !== undefined) named.add(supersedes);
  }
  return [...named];
}

export function planAppend(
  state: SessionState,
  request: AppendRequest,
  named: ReadonlyMap<string, Point>,
): AppendPlan {
  checkExpectedLeaf(state.sessionId, state.leaf?.id ?? null, request.expectedLeaf);

  const placer = new Placer(state.lastSequence, state.lastChain);
  const points = new Map(named);
  const rows: EntryRow[] = [];
  const changes: NewChange[] = [];
  const superseded: { id: string; by: string }[] = [];
  const actors = new Set<string>();
  const usage = { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  let { leaf, updatedAt, lastInteractionAt } = state;
  let messages = 0;
  let contentBytes = 0;

  for (const entry of request.entries) {
    const rules = kindRules(entry.kind);
    const status = entry.status ?? "committed";
    const isMessage = rules.counted && status === "committed";
    const parent = entry.parentId === undefined ? leaf : parentOf(entry.parentId, points, state);
    // Checked before the entry is added: it must not supersede itself.
    if (entry.supersedes !== undefined) pointOf(entry.supersedes, points, state);
    const movesLeaf = rules.movesLeaf && status === "committed";
    const place = movesLeaf ? placer.child(parent, isMessage) : placer.annotation(parent);
    const row = hashRow(entry, place, status, state);
    rows.push(row);

    if (movesLeaf) {
      leaf = toPoint(row);
      points.set(entry.id, leaf);
    }
    if (isMessage) messages++;
    contentBytes += entry.contentBytes;
    // Participants are users and agents.
    if (entry.actor !== null && entry.role !== "tool") actors.add(entry.actor);
    if (status === "committed") updatedAt = Math.max(updatedAt, entry.createdAt);
    if (entry.interaction) lastInteractionAt = Math.max(lastInteractionAt, entry.createdAt);

    changes.push(appended(row, state.sessionId, request.now));
    if (entry.supersedes !== undefined) {
      superseded.push({ id: entry.supersedes, by: entry.id });
      changes.push(supersededChange(entry.supersedes, entry.id, state.sessionId, request.now));
    }
    if (entry.usage !== null) addUsage(usage, entry.usage);
    const called = request.isHistory ? undefined : contextUsage(entry, state, request.now);
    if (called !== undefined) changes.push(called);
  }

  return {
    rows,
    chains: placer.newChains,
    changes,
    superseded,
    actors: [...actors],
    leaf,
    lastSequence: placer.lastSequence,
    lastChain: placer.lastChain,
    messages,
    contentBytes,
    usage,
    updatedAt,
    lastInteractionAt,
    interacted: lastInteractionAt !== state.lastInteractionAt,
  };
}

export function placedEntry(row: EntryRow): PlacedEntry {
  return {
    id: row.entry.id,
    sequence: row.place.sequence,
    parentId: row.place.parent?.id ?? null,
    ordinal: row.place.ordinal,
    hash: row.hex,
  };
}

/** The place of an entry that moves the leaf. Field by field: a spread costs as much as a hash. */
function toPoint({ entry, place, hash }: EntryRow): Point {
  const { sequence, chain, depth, ordinal } = place;
  return { id: entry.id, sequence, chain, depth, ordinal, hash, atTip: true, annotation: false };
}

function hashRow(
  entry: NewEntry,
  place: TreePlace,
  status: "committed" | "aborted",
  state: SessionState,
): EntryRow {
  const sealed = seal(entry);
  const parent = place.parent?.hash ?? state.rootHash;
  const hex = entryHex(parent, digest(sealed), place, hashedColumns(entry, state.sessionId));
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const content = sealed.subarray(NONCE_BYTES);
  return { entry, place, status, nonce, content, hash: fromHex(hex), hex };
}

function parentOf(
  id: string | null,
  points: ReadonlyMap<string, Point>,
  state: SessionState,
): Point | null {
  return id === null ? null : checkNode(pointOf(id, points, state), state.sessionId);
}

function pointOf(id: string, points: ReadonlyMap<string, Point>, state: SessionState): Point {
  const point = points.get(id);
  if (point === undefined) throw entryNotFound(id, state.sessionId);
  return point;
}

function appended(row: EntryRow, sessionId: string, at: number): NewChange {
  const { entry, status } = row;
  // A committed message needs no details, because its kind and status are the defaults.
  const details =
    entry.kind === "message" && status === "committed"
      ? null
      : JSON.stringify({ kind: entry.kind, status, ...entry.feedDetails });
  const kind = status === "aborted" ? "message_aborted" : "entry_appended";
  const { hash: entryHash, hex: entryHex } = row;
  return { kind, at, sessionId, entryId: entry.id, entryHash, entryHex, details };
}

function supersededChange(id: string, by: string, sessionId: string, at: number): NewChange {
  const details = JSON.stringify({ supersededBy: by });
  return { kind: "entry_superseded", at, sessionId, entryId: id, entryHash: null, details };
}

/** One per model call: the provider's usage, or our estimate. */
function contextUsage(
  entry: NewEntry,
  { sessionId, leaf }: SessionState,
  at: number,
): NewChange | undefined {
  const { usage, estimatedContext, contextWindow } = entry;
  if (usage === null && estimatedContext === undefined) return undefined;
  const holds = estimatedContext?.after === (leaf?.id ?? null);
  const contextTokens = holds ? estimatedContext.tokens : null;
  const details =
    usage === null && contextWindow === undefined
      ? // A host's token counter may return NaN.
        `{"contextTokens":${Number.isFinite(contextTokens) ? contextTokens : null},"estimated":true}`
      : JSON.stringify({
          ...(usage === null ? { contextTokens } : reported(usage)),
          ...(contextWindow === undefined ? {} : { contextWindow }),
          estimated: usage === null,
        });
  return { kind: "context_usage", at, sessionId, entryId: entry.id, entryHash: null, details };
}

function reported(usage: Usage): Readonly<Record<string, number>> {
  const promptTokens = usage.inputTokens + usage.cacheCreationTokens + usage.cacheReadTokens;
  const totalTokens = promptTokens + usage.outputTokens;
  return {
    promptTokens,
    completionTokens: usage.outputTokens,
    totalTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheCreationTokens,
    contextTokens: totalTokens,
  };
}

function addUsage(sum: { -readonly [K in keyof Usage]: number }, usage: Usage): void {
  sum.inputTokens += usage.inputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.cacheCreationTokens += usage.cacheCreationTokens;
  sum.cacheReadTokens += usage.cacheReadTokens;
}

/** A pool of random bytes: a system call for each would cost more than the hash. */
const noncePool = Buffer.alloc(NONCE_BYTES * 2048);
let nonceOffset = noncePool.length;

/** A nonce followed by the content, encoded once: hashed as a whole and stored as two values. */
function seal({ content, encoded }: NewEntry): Buffer {
  if (nonceOffset === noncePool.length) {
    randomFillSync(noncePool);
    nonceOffset = 0;
  }
  const sealed = encoded ?? Buffer.allocUnsafe(NONCE_BYTES + Buffer.byteLength(content));
  noncePool.copy(sealed, 0, nonceOffset, nonceOffset + NONCE_BYTES);
  if (encoded === undefined) sealed.write(content, NONCE_BYTES);
  nonceOffset += NONCE_BYTES;
  return sealed;
}
