/** Verifies one session: its entries, their hashes and places, and its row. */

import { kindRules } from "../../model/entry.ts";
import { totalTokens } from "../../model/prices.ts";
import type { Session } from "../../model/session.ts";
import { expectedHash, isTombstone } from "../../store/damage/check-entries.ts";
import type { EntryRecord } from "../../store/records.ts";
import { blobsOf } from "../../transcript/content.ts";
import { toHex, ZERO_HASH } from "../../transcript/hash.ts";
import type { Chain } from "../../transcript/place.ts";
import { damageOf, type TenantRun } from "./problems.ts";
import { findDamaged, readTree } from "./read-damaged.ts";
import type { FeedErasures } from "./verify-erased.ts";

/** A session's part of its tenant's counters. */
export interface SessionSum {
  readonly entries: number;
  readonly messages: number;
  readonly contentBytes: number;
}

/** Payload bytes held in memory at a time. */
const GROUP_BYTES = 16 * 1024 * 1024;

/** The fields of an entry that its children need. */
interface Known {
  readonly hash: string;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
}

/** Undefined if entries are unreadable, so that counts are impossible. */
export async function verifySession(
  run: TenantRun,
  session: Session,
  erasures: FeedErasures,
): Promise<SessionSum | undefined> {
  const { store, tenant, problems } = run;
  const add = (entryId: string | null, problem: string) =>
    problems.add(tenant, session.id, entryId, problem);
  run.counted.sessions++;
  const before = await sizeOf(run, session.id);
  const known = new Map<string, Known>();
  const made = new Map<number, Chain>();
  let chains: readonly Chain[] = [];
  let [sequence, messages, tokens, tombstones, contentBytes, unreadable] = [0, 0, 0, 0, 0, 0];
  while (sequence < session.entryCount) {
    const page = await readTree(store, tenant, session.id, sequence);
    if (page.unreadable !== undefined) {
      add(null, `entry ${++sequence} of the session cannot be read: ${page.unreadable}`);
      unreadable++;
      continue;
    }
    chains = page.chains ?? chains;
    const entries = page.entries.filter((entry) => entry.sequence <= session.entryCount);
    if (entries.length === 0) break;
    const root = toHex(page.rootHash ?? ZERO_HASH);
    const wrong = new Set<string>();
    for (const entry of entries) {
      if (entry.sequence !== ++sequence) {
        add(entry.id, `entry ${sequence} of the session is missing`);
        sequence = entry.sequence;
      }
      run.counted.entries++;
      const parent = entry.parentId === null ? undefined : known.get(entry.parentId);
      if (entry.parentId !== null && parent === undefined) {
        // Descendants of an unreadable entry cannot be verified.
        if (unreadable === 0) add(entry.id, "the entry's parent is missing");
      } else if (!matches(entry, parent?.hash ?? root)) {
        add(entry.id, "the entry does not match its hash");
        wrong.add(entry.id);
      }
      if (entry.status !== "committed" && entry.status !== "aborted") {
        add(entry.id, "the entry's status is unknown");
      }
      noteChain(made, entry, parent);
      const { chain, depth, ordinal } = entry;
      // Compare later entries with the stored hash, so that one change is one problem.
      known.set(entry.id, { hash: entry.hash ?? "", chain, depth, ordinal });
      if (entry.kind === "message" && entry.status === "committed") messages++;
      tokens += entry.usage === null ? 0 : totalTokens(entry.usage);
      contentBytes += entry.contentBytes;
      if (isTombstone(entry)) tombstones++;
    }
    await verifyPayloads(
      run,
      session.id,
      entries.filter(({ id }) => !wrong.has(id)),
    );
    run.onProgress();
  }
  if (sequence !== session.entryCount) {
    add(null, `the session has ${sequence} entries, its row says ${session.entryCount}`);
  }
  // Counts are impossible as well.
  if (unreadable > 0) return undefined;
  if (messages !== session.messageCount) {
    add(null, `the session has ${messages} messages, its row says ${session.messageCount}`);
  }
  for (const problem of await erasures.compare(session, { tombstones, tokens })) {
    add(null, problem);
  }
  for (const problem of wrongChains(made, chains)) add(null, problem);
  if (session.leaf !== null && !known.has(session.leaf)) {
    add(session.leaf, "the active leaf is no entry of the session");
  } else {
    const damage = await damageOf(() => readOne(run, session.id));
    if (damage !== undefined) add(session.leaf, damage);
  }
  await compareSize(run, session, before, contentBytes);
  return { entries: sequence, messages, contentBytes };
}

function matches(entry: EntryRecord, parent: string): boolean {
  // SQLite has dynamic types: a damaged record may hold a text or a number here.
  if (entry.nonce !== null && !(entry.nonce instanceof Uint8Array)) return false;
  const nonce = entry.nonce === null ? null : toHex(entry.nonce);
  const hash = expectedHash(entry, nonce, parent);
  return hash === undefined || hash === entry.hash;
}

/** The first entry of a chain records where it left its parent's. */
function noteChain(made: Map<number, Chain>, entry: EntryRecord, parent: Known | undefined): void {
  const { chain } = entry;
  const isNode = kindRules(entry.kind).movesLeaf && entry.status === "committed";
  if (!isNode || made.has(chain) || parent?.chain === chain) return;
  made.set(chain, {
    chain,
    parentChain: parent?.chain ?? 0,
    forkDepth: parent?.depth ?? 0,
    forkOrdinal: parent?.ordinal ?? 0,
  });
}

/** Skips chains created after the start. */
function* wrongChains(
  made: ReadonlyMap<number, Chain>,
  stored: readonly Chain[],
): Generator<string> {
  const rows = new Map(stored.map((chain) => [chain.chain, chain]));
  for (const [chain, { parentChain, forkDepth, forkOrdinal }] of made) {
    const row = rows.get(chain);
    const isSame =
      row?.parentChain === parentChain &&
      row.forkDepth === forkDepth &&
      row.forkOrdinal === forkOrdinal;
    if (!isSame) yield `chain ${chain} does not leave the tree where its first entry does`;
  }
}

/** Any read of the active path compares the leaf with its entry. */
async function readOne({ store, tenant }: TenantRun, sessionId: string): Promise<void> {
  const query = { select: "messages", sessionId, offset: 0, limit: 1, payloads: false } as const;
  await store.readEntries(tenant, query);
}

/** Judges only sessions without concurrent writes. */
async function compareSize(
  run: TenantRun,
  session: Session,
  before: number | undefined,
  contentBytes: number,
): Promise<void> {
  if (before === undefined || before === contentBytes) return;
  const now = await run.store.findSession(run.tenant, session.id);
  const after = await sizeOf(run, session.id);
  if (now?.entryCount !== session.entryCount || after !== before) return;
  const problem = `the session's entries have ${contentBytes} bytes, its row says ${before}`;
  run.problems.add(run.tenant, session.id, null, problem);
}

async function sizeOf({ store, tenant }: TenantRun, id: string): Promise<number | undefined> {
  const [size] = await store.readSessionSizes(tenant, [id]);
  return size?.contentBytes;
}

/** Large payloads are read a few at a time: a page of them may be gigabytes. */
async function verifyPayloads(
  { store, tenant, problems }: TenantRun,
  sessionId: string,
  entries: readonly EntryRecord[],
): Promise<void> {
  for (const ids of groupsBySize(entries.filter(hasPayloads))) {
    for (const [id, problem] of await findDamaged(store, tenant, ids)) {
      problems.add(tenant, sessionId, id, problem);
    }
  }
}

function hasPayloads(entry: EntryRecord): boolean {
  return entry.content !== null && blobsOf(entry.content).length > 0;
}

/** Ids of entries whose contents together stay near the limit. */
function* groupsBySize(entries: readonly EntryRecord[]): Generator<string[]> {
  let ids: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    ids.push(entry.id);
    bytes += entry.contentBytes;
    if (bytes < GROUP_BYTES) continue;
    yield ids;
    ids = [];
    bytes = 0;
  }
  if (ids.length > 0) yield ids;
}
