/**
 * Applies a session's retention: erases the content of entries that a compaction covers.
 *
 * Batches are erased oldest first, and only the last one marks the compaction as done. So a crash
 * in between leaves the session due, and a sweep completes it.
 */

import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { RetentionDue } from "../../store/erase-records.ts";
import type { EntryRecord } from "../../store/records.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import type { EngineContext } from "../engine-context.ts";
import { type Coverage, readCoverage } from "./coverage.ts";
import { coveredEntries } from "./covered-entries.ts";

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
