/**
 * Applies a session's retention: erases the content of entries that a compaction covers.
 *
 * Batches are erased oldest first, and only the last one marks the compaction as done. So a crash
 * in between leaves the session due, and a sweep completes it.
 */

import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { EntryMark } from "../../store/entry-query.ts";
import type { EntryRecord } from "../../store/records.ts";
import type { EraseMode, RetentionDue } from "../../store/requests.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import { type Coverage, mayQuote, readCoverage } from "./coverage.ts";

/** Entries per transaction, which blocks other writers. */
const BATCH = 200;
/** Sessions per page. */
const DUE_PAGE = 50;

/** Applies the retention of one session to all covered entries of its active path. */
export async function applyRetention(
  engine: EngineContext,
  sessionId: string,
): Promise<{ readonly erased: number }> {
  const { store, tenant } = engine;
  const [due] = await store.listRetentionDue(tenant, { sessionId });
  if (due !== undefined) return { erased: await applyTo(engine, due) };
  const session = await store.findSession(tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  return { erased: 0 };
}

/**
 * `applyRetention` for every session of the tenant that is due. An error of one session is thrown
 * after the others are done.
 */
export async function applyAllRetention(engine: EngineContext): Promise<number> {
  const { store, tenant } = engine;
  const failures: unknown[] = [];
  let erased = 0;
  let after: string | undefined;
  for (;;) {
    const which = { limit: DUE_PAGE, ...(after === undefined ? {} : { after }) };
    const page = await store.listRetentionDue(tenant, which);
    for (const due of page) erased += await applyUnlessDamaged(engine, due, failures);
    after = page.at(-1)?.sessionId;
    if (page.length >= DUE_PAGE) continue;
    if (failures.length > 0) throw failures[0];
    return erased;
  }
}

async function applyUnlessDamaged(
  engine: EngineContext,
  due: RetentionDue,
  failures: unknown[],
): Promise<number> {
  try {
    return await applyTo(engine, due);
  } catch (error) {
    // Deleted meanwhile.
    if (BackscrollError.is(error, "session_not_found")) return 0;
    if (!BackscrollError.is(error, "store_corrupt")) throw error;
    failures.push(error);
    return 0;
  }
}

async function applyTo(engine: EngineContext, due: RetentionDue): Promise<number> {
  const { sessionId, retention: mode, appliedThrough } = due;
  const compactions = await readCompactions(engine, sessionId, null);
  const coverage = await readCoverage(engine, sessionId, compactions, appliedThrough);
  if (coverage === undefined) return 0;
  const request = { sessionId, mode };
  let erased = 0;
  let batch: string[] = [];
  for await (const id of coveredEntries(engine, sessionId, mode, coverage)) {
    batch.push(id);
    if (batch.length < BATCH) continue;
    const part = { ...request, entryIds: batch, now: engine.now() };
    erased += (await engine.store.eraseContent(engine.tenant, part)).erased;
    batch = [];
  }
  const last = await engine.store.eraseContent(engine.tenant, {
    ...request,
    entryIds: batch,
    appliedThrough: await appliedNow(engine, due, compactions, coverage),
    now: engine.now(),
  });
  return erased + last.erased;
}

/**
 * The sequence up to which all compactions are applied. One on an abandoned branch waits until its
 * branch is active again, because it may cover the active path.
 */
async function appliedNow(
  engine: EngineContext,
  { sessionId, appliedThrough }: RetentionDue,
  onPath: readonly EntryRecord[],
  { sequence }: Coverage,
): Promise<number> {
  const known = new Set(onPath.map(({ id }) => id));
  const left = (await readCompactions(engine, sessionId, undefined))
    .filter((entry) => entry.sequence > appliedThrough && !known.has(entry.id))
    .map((entry) => entry.sequence);
  return Math.min(sequence, ...left.map((each) => each - 1));
}

/** The compactions of the active path, or of all branches: at most 500, newest last. */
async function readCompactions(
  engine: EngineContext,
  sessionId: string,
  leaf: null | undefined,
): Promise<readonly EntryRecord[]> {
  const page = await engine.store.readEntries(engine.tenant, {
    select: "marked",
    sessionId,
    mark: "summary",
    limit: MAX_PAGE,
    payloads: false,
    ...(leaf === undefined ? {} : { leaf }),
  });
  return page.entries.filter(({ kind }) => kind === "compaction");
}

/**
 * Selects the entries to erase.
 *
 * Everything that the newest compaction covers along its path, annotations included. On other
 * branches only entries superseded by an edit or another answer, with their descendants: the rest
 * was not summarised, and a user may return to it. Also earlier summaries, which may quote.
 */

/** Small, because records hold content. */
const PAGE = 100;

/** Ids, those of the path first and in order. May repeat. */
async function* coveredEntries(
  engine: EngineContext,
  sessionId: string,
  mode: EraseMode,
  coverage: Coverage,
): AsyncGenerator<string> {
  const { compaction, throughSequence, standing } = coverage;
  const goes = (record: EntryRecord) =>
    kindRules(record.kind).erasable &&
    record.sequence <= throughSequence &&
    !record.pinned &&
    !standing.has(record.id) &&
    hasMore(record, mode);

  const path = { sessionId, leaf: compaction, after: coverage.doneThrough };
  for await (const record of walk(engine, path)) {
    if (goes(record)) yield record.id;
    if (kindRules(record.kind).movesLeaf && record.sequence > throughSequence) break;
  }
  const released = await engine.store.findEntries(engine.tenant, coverage.released, false);
  for (const record of released.entries) {
    if (record.sessionId === sessionId && goes(record)) yield record.id;
  }
  for await (const record of replaced(engine, sessionId, coverage)) {
    if (goes(record)) yield record.id;
  }
  yield* oldSummaries(engine, sessionId, mode, coverage);
}

/** Whether something is left to erase. */
function hasMore({ content, contentHash }: EntryRecord, mode: EraseMode): boolean {
  return content !== null || (mode === "ephemeral" && contentHash !== null);
}

interface Path {
  readonly sessionId: string;
  readonly leaf: string;
  readonly after: string | null | undefined;
}

/** The entries of a path after a given one; all if it is not on the path. */
async function* walk(
  engine: EngineContext,
  { sessionId, leaf, after }: Path,
): AsyncGenerator<EntryRecord> {
  let last = after ?? undefined;
  for (;;) {
    const page = await engine.store
      .readEntries(engine.tenant, {
        select: "path",
        sessionId,
        leaf,
        limit: PAGE,
        payloads: false,
        ...(last === undefined ? {} : { after: last }),
      })
      .catch((error: unknown) => {
        if (last !== undefined && BackscrollError.is(error, "entry_not_found")) return undefined;
        throw error;
      });
    if (page === undefined) return yield* walk(engine, { sessionId, leaf, after: undefined });
    yield* page.entries;
    last = page.entries.at(-1)?.id;
    if (page.entries.length < PAGE || last === undefined) return;
  }
}

/** A superseded entry off the path, with its descendants. */
async function* replaced(
  engine: EngineContext,
  sessionId: string,
  { compaction, throughSequence }: Coverage,
): AsyncGenerator<EntryRecord> {
  const all = await marked(engine, sessionId, "superseded", undefined);
  if (all.length === 0) return;
  const onPath = await marked(engine, sessionId, "superseded", compaction);
  const known = new Set(onPath.map(({ id }) => id));
  const left = all.filter(({ id, sequence }) => !known.has(id) && sequence <= throughSequence);
  if (left.length === 0) return;
  const ids = new Set(left.map(({ id }) => id));
  for (const leaf of await engine.store.listLeaves(engine.tenant, sessionId, MAX_PAGE)) {
    const [first] = (await marked(engine, sessionId, "superseded", leaf.id)).filter(({ id }) =>
      ids.has(id),
    );
    if (first === undefined) continue;
    yield* walk(engine, { sessionId, leaf: leaf.id, after: first.parentId });
  }
}

/** Earlier summaries that are not part of the newest, from a time of full retention. */
async function* oldSummaries(
  engine: EngineContext,
  sessionId: string,
  mode: EraseMode,
  { compaction, sequence, summaries }: Coverage,
): AsyncGenerator<string> {
  for (const record of await marked(engine, sessionId, "summary", compaction)) {
    const isOld = record.sequence < sequence && !summaries.has(record.id) && !record.pinned;
    if (!isOld || !hasMore(record, mode)) continue;
    if (record.content === null) yield record.id;
    const page = await engine.store.findEntries(engine.tenant, [record.id], true);
    const [found] = page.entries;
    if (found?.content != null && mayQuote(toEntry(found, page.payloads))) yield record.id;
  }
}

/** Marked entries of a path or of all branches: the newest 500. */
async function marked(
  engine: EngineContext,
  sessionId: string,
  mark: EntryMark,
  leaf: string | undefined,
): Promise<readonly EntryRecord[]> {
  const page = await engine.store.readEntries(engine.tenant, {
    select: "marked",
    sessionId,
    mark,
    limit: MAX_PAGE,
    payloads: false,
    ...(leaf === undefined ? {} : { leaf }),
  });
  return page.entries;
}
