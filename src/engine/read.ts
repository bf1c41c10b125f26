/** Reads a session by page. */

import type { BRANCH } from "../model/answers/context.ts";
import type { Entry } from "../model/entry.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { isMarkData } from "../model/mark.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { EntryPage } from "../store/entry-query.ts";
import { entryNotFound } from "../store/store-errors.ts";
import type { Chain } from "../transcript/place.ts";
import { checkInput, checkKey, checkLimit, invalid } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";
import { pendingEntry, toEntry } from "./entry-view.ts";

export interface HistoryInput {
  /** At most 500. Default 50. */
  readonly limit?: number;
  /** Only entries before this one. */
  readonly before?: string;
  /** Places compactions before the first entry that they kept. */
  readonly includeSummaries?: boolean;
}

export interface ListMessagesInput {
  /** The index of the first message, counted along the path from 0. */
  readonly offset?: number;
  /** At most 500. Default 50. */
  readonly limit?: number;
  /** A leaf other than the active one. */
  readonly leaf?: string;
  /** Centres the page on this message; replaces `offset`. */
  readonly around?: string;
  /** Large payloads are cut to their head and not read. */
  readonly preview?: boolean;
}

export interface MessagePage {
  readonly messages: Entry[];
  readonly offset: number;
  /** Messages on the path. */
  readonly total: number;
}

export interface ListEntriesInput {
  /** All branches, in the order of writing, instead of one path. */
  readonly tree?: boolean;
  readonly leaf?: string;
  /** The last entry of the previous page. */
  readonly after?: string;
  /** With `tree`: the index of the first entry, counted from 0. `after` replaces it. */
  readonly offset?: number;
  readonly limit?: number;
  readonly preview?: boolean;
}

export interface EntryListPage {
  readonly entries: Entry[];
  /** The start of the next page: pass it as `after`. Absent on the last page. */
  readonly next?: string;
}

export async function listMessages(
  engine: EngineContext,
  sessionId: string,
  input: ListMessagesInput,
): Promise<MessagePage> {
  const { around, leaf } = checkInput(input, "options", INPUTS.listMessages);
  checkKey(sessionId, "sessionId");
  const limit = checkLimit(input.limit);
  const offset =
    around === undefined
      ? (input.offset ?? 0)
      : await offsetAround(engine, sessionId, around, limit);
  const read = async (end: string | undefined) => {
    const page = await engine.store.readEntries(engine.tenant, {
      select: "messages",
      sessionId,
      ...(end === undefined ? {} : { leaf: end }),
      offset,
      limit,
      payloads: !input.preview,
    });
    return { messages: toEntries(page), offset, total: page.total };
  };
  const page = await read(leaf);
  const missed = around !== undefined && !page.messages.some((message) => message.id === around);
  // The message is on another branch: show its own path.
  return missed && leaf === undefined ? read(around) : page;
}

export async function readHistory(
  engine: EngineContext,
  sessionId: string,
  input: HistoryInput,
): Promise<Entry[]> {
  checkInput(input, "options", INPUTS.history);
  const page = await engine.store.readEntries(engine.tenant, {
    select: "history",
    sessionId,
    ...(input.before === undefined ? {} : { before: input.before }),
    include: input.includeSummaries ? "summaries" : "messages",
    limit: checkLimit(input.limit),
    payloads: true,
  });
  return summariesFirst(toEntries(page));
}

export async function listEntries(
  engine: EngineContext,
  sessionId: string,
  input: ListEntriesInput,
): Promise<EntryListPage> {
  checkInput(input, "options", INPUTS.listEntries);
  const limit = checkLimit(input.limit);
  const payloads = !input.preview;
  const { store, tenant } = engine;
  const offset = input.offset ?? 0;
  if (input.offset !== undefined && !input.tree) {
    throw invalid("offset", "offset counts the entries of all branches; set tree, or pass after");
  }
  const page = input.tree
    ? await store.readEntries(tenant, {
        select: "tree",
        sessionId,
        // Sequences count up by one from 1.
        afterSequence: offset,
        ...(input.after === undefined ? {} : { after: input.after }),
        limit,
        payloads,
      })
    : await store.readEntries(tenant, {
        select: "path",
        sessionId,
        ...(input.leaf === undefined ? {} : { leaf: input.leaf }),
        ...(input.after === undefined ? {} : { after: input.after }),
        limit,
        payloads,
      });
  const entries = toEntries(page);
  const last = entries.at(-1);
  return entries.length < limit || last === undefined ? { entries } : { entries, next: last.id };
}

/** An entry of any session of the tenant, pending ones included. */
export async function getEntry(engine: EngineContext, id: string): Promise<Entry> {
  const { store, tenant } = engine;
  const page = await store.findEntries(tenant, [checkKey(id, "entryId")], true);
  const record = page.entries[0];
  if (record !== undefined) return toEntry(record, page.payloads);
  const pending = await store.findPending(tenant, id);
  if (pending !== undefined) return pendingEntry(pending);
  throw entryNotFound(id);
}

/** A branch: its leaf, and the length of its path. */
export interface Branch extends FieldsOf<typeof BRANCH> {}

/** The session's branches, newest first: at most 500. */
export async function readBranches(engine: EngineContext, sessionId: string): Promise<Branch[]> {
  const { store, tenant } = engine;
  const session = await store.findSession(tenant, sessionId);
  const leaves = await store.listLeaves(tenant, sessionId, MAX_PAGE);
  const chains = leaves.length < 2 ? [] : await readChains(engine, sessionId);
  const chainOf = new Map(chains.map((chain) => [chain.chain, chain]));
  const leafOf = new Map(leaves.map(({ chain, id }) => [chain, id]));
  return leaves.map((record) => {
    const { parentChain = 0, forkOrdinal = 0 } = chainOf.get(record.chain) ?? {};
    return {
      leaf: toEntry(record, new Map()),
      messages: record.ordinal,
      active: record.id === session?.leaf,
      parentLeaf: leafOf.get(parentChain) ?? null,
      forkIndex: forkOrdinal,
    };
  });
}

async function readChains(
  { store, tenant }: EngineContext,
  sessionId: string,
): Promise<readonly Chain[]> {
  const { chains = [] } = await store.readEntries(tenant, {
    select: "tree",
    sessionId,
    afterSequence: 0,
    limit: 1,
    payloads: false,
    isRaw: true,
  });
  return chains;
}

/** Beyond this, only the newest labels are shown. */
const MAX_LABELS = 10_000;

/** Each entry's current label. */
export async function readLabels(
  engine: EngineContext,
  sessionId: string,
): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  const page = await engine.store.readEntries(engine.tenant, {
    select: "marked",
    sessionId,
    mark: "label",
    limit: MAX_LABELS,
    payloads: false,
  });
  for (const record of page.entries) {
    const data = toEntry(record, new Map()).data as { targetId?: string; label?: string | null };
    if (typeof data?.targetId !== "string" || isMarkData(data)) continue;
    if (typeof data.label === "string") labels.set(data.targetId, data.label);
    else labels.delete(data.targetId);
  }
  return labels;
}

function toEntries(page: EntryPage): Entry[] {
  return page.entries.map((record) => toEntry(record, page.payloads));
}

async function offsetAround(
  engine: EngineContext,
  sessionId: string,
  entryId: string,
  limit: number,
): Promise<number> {
  const page = await engine.store.findEntries(engine.tenant, [entryId], false);
  const record = page.entries[0];
  if (record === undefined || record.sessionId !== sessionId)
    throw entryNotFound(entryId, sessionId);
  return Math.max(0, record.ordinal - 1 - Math.floor(limit / 2));
}

/** Moves each compaction before the first entry that it kept, where a reader expects it. */
function summariesFirst(entries: Entry[]): Entry[] {
  const ordered = entries.filter((entry) => entry.kind !== "compaction");
  for (const entry of entries) {
    if (entry.kind !== "compaction") continue;
    const { firstKeptEntryId } = (entry.data ?? {}) as { firstKeptEntryId?: string };
    const kept = ordered.findIndex((other) => other.id === firstKeptEntryId);
    // The kept entry precedes this page, so the whole page follows the summary.
    ordered.splice(Math.max(0, kept), 0, entry);
  }
  return ordered;
}
