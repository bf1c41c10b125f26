/** Verifies the change feed: positions, hash chain, head, and the entries that it names. */

import type { ChangePage, ChangeRecord } from "../../store/records.ts";
import { changeBody, changeHash, toHex, ZERO_HASH } from "../../transcript/hash.ts";
import { damageOf, type TenantRun } from "./problems.ts";
import { findReadable } from "./read-damaged.ts";
import type { FeedErasures } from "./verify-erased.ts";

const PAGE = 200;

/** This many unreadable changes in a row end the feed. */
const MAX_UNREADABLE = 1_000;

export interface VerifiedFeed {
  /** The feed's head, in hex. */
  readonly head: string;
  /** Whether the feed contains the requested hash. */
  readonly passed: boolean;
}

export async function verifyFeed(
  run: TenantRun,
  erasures: FeedErasures,
  noted: string | undefined,
): Promise<VerifiedFeed> {
  const { store, tenant, problems } = run;
  const head = await store.feedHead(tenant);
  let previous: Uint8Array = ZERO_HASH;
  let position = 0;
  let looked = 0;
  let passed = false;
  const known: KnownSessions = { mismatched: new Map(), deleted: new Set() };
  while (looked < head.position) {
    const page = await readChanges(run, looked, head.position);
    const changes = page.changes.filter((change) => change.position <= head.position);
    const through = Math.max(page.through, changes.at(-1)?.position ?? 0);
    if (through <= looked) break;
    // A page without changes lies in a gap: continue after it.
    looked = through;
    for (const change of changes) {
      previous = verifyChange(run, change, position + 1, previous);
      position = change.position;
      if (toHex(change.hash) === noted) passed = true;
      if (change.kind === "session_created") run.inFeed.add(change.sessionId ?? "");
      if (change.kind === "session_deleted") run.inFeed.delete(change.sessionId ?? "");
    }
    await problems.attempt(tenant, null, () => verifyNamedEntries(run, changes, known));
    await problems.attempt(tenant, null, async () => {
      for (const { sessionId, position } of await erasures.take(changes)) {
        const problem = `the digest of erased entries differs from change ${position}`;
        problems.add(tenant, sessionId, null, problem);
      }
    });
    run.onProgress();
  }
  for (const [sessionId, entryIds] of known.mismatched) {
    for (const entryId of entryIds) {
      problems.add(tenant, sessionId, entryId, "the entry's hash differs from the feed's");
    }
  }
  if (position !== head.position) {
    problems.add(
      tenant,
      null,
      null,
      `the feed ends at ${position}, its head says ${head.position}`,
    );
  } else if (toHex(previous) !== toHex(head.hash)) {
    problems.add(tenant, null, null, "the feed's last hash differs from its head");
  }
  return { head: toHex(head.hash), passed };
}

/** A page of the feed; unreadable changes are reported and skipped. */
async function readChanges(run: TenantRun, after: number, end: number): Promise<ChangePage> {
  const { store, tenant, problems } = run;
  let page: ChangePage = { changes: [], through: after };
  const read = (from: number, limit: number) =>
    damageOf(async () => {
      page = await store.listChanges(tenant, from, limit, undefined);
    });
  if ((await read(after, PAGE)) === undefined) return page;
  for (let from = after; from < Math.min(end, after + MAX_UNREADABLE); from++) {
    const damage = await read(from, 1);
    if (damage === undefined) return page;
    problems.add(tenant, null, null, `change ${from + 1} of the feed cannot be read: ${damage}`);
  }
  return { changes: [], through: Math.min(end, after + MAX_UNREADABLE) };
}

function verifyChange(
  run: TenantRun,
  change: ChangeRecord,
  expected: number,
  previous: Uint8Array,
): Uint8Array {
  const { tenant, problems } = run;
  const { sessionId, entryId, position } = change;
  run.counted.changes++;
  if (position !== expected) {
    problems.add(tenant, sessionId, entryId, `change ${expected} is missing from the feed`);
  }
  if (toHex(changeHash(previous, position, changeBody(change))) !== toHex(change.hash)) {
    problems.add(tenant, sessionId, entryId, `change ${position} does not match its hash`);
  }
  return change.hash;
}

const DELETED = "session_deleted";

interface KnownSessions {
  /**
   * Entries whose hash differs from the feed, by session: a problem unless a later change deletes the
   * session.
   */
  readonly mismatched: Map<string, string[]>;
  /** Sessions with a tombstone: looked up once, not for each of their entries. */
  readonly deleted: Set<string>;
}

/** Every entry named in the feed must exist unchanged, unless its session was deleted. */
async function verifyNamedEntries(
  run: TenantRun,
  changes: readonly ChangeRecord[],
  { mismatched, deleted }: KnownSessions,
): Promise<void> {
  const { store, tenant, problems } = run;
  const appended = changes.filter(({ entryHash, kind }) => entryHash !== null || kind === DELETED);
  const ids = appended.flatMap(({ entryId }) => (entryId === null ? [] : [entryId]));
  const { found, unreadable } = await findReadable(store, tenant, ids);
  for (const { sessionId, entryId, entryHash, kind } of appended) {
    if (kind === DELETED) {
      // It may have been imported again with the same ids: discard earlier state.
      mismatched.delete(sessionId ?? "");
      continue;
    }
    // Unreadable entries are reported with their session.
    if (unreadable.has(entryId ?? "")) continue;
    const entry = found.get(entryId ?? "");
    if (entry === undefined) {
      if (deleted.has(sessionId ?? "")) continue;
      const problem = await whyMissing(run, sessionId ?? "");
      if (problem === undefined) deleted.add(sessionId ?? "");
      else problems.add(tenant, sessionId, entryId, problem);
    } else if (entry.hash !== toHex(entryHash ?? ZERO_HASH)) {
      const known = mismatched.get(sessionId ?? "");
      if (known === undefined) mismatched.set(sessionId ?? "", [entryId ?? ""]);
      else known.push(entryId ?? "");
    }
  }
}

/** Undefined if the entry was deleted with its session. */
async function whyMissing({ store, tenant }: TenantRun, sessionId: string) {
  if ((await store.findTombstone(tenant, sessionId)) !== undefined) return undefined;
  let isThere = true;
  // An unreadable session exists.
  const damage = await damageOf(async () => {
    isThere = (await store.findSession(tenant, sessionId)) !== undefined;
  });
  return isThere || damage !== undefined
    ? "the feed names this entry, but the session lacks it"
    : "the session is gone without a tombstone";
}
