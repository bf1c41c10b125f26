/**
 * Recomputes every hash in the store.
 *
 * It finds an entry that was changed, moved or taken away behind our back, a feed that was cut or
 * rewritten, a payload that does not match its address, and counters that do not match what they
 * count. It runs beside writers: each part is compared with what it was when its look began.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import type { ChangeRecord, EntryRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { blobsOf } from "../../transcript/content.ts";
import {
  changeBody,
  changeHash,
  contentHash,
  entryHash,
  fromHex,
  toHex,
  ZERO_HASH,
} from "../../transcript/hash.ts";
import { findDamaged, findReadable, readTree } from "./read-damaged.ts";
import { FeedErasures, isTombstone, totalTokens } from "./verify-erased.ts";

export interface VerifyOptions {
  /** A feed head that was noted earlier, in hex: the feed must still pass through it. */
  readonly head?: string;
  readonly onProgress?: (progress: { readonly tenant: string; readonly checked: number }) => void;
}

export interface Problem {
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly entryId: string | null;
  readonly problem: string;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly tenants: number;
  readonly sessions: number;
  readonly entries: number;
  readonly changes: number;
  readonly problems: readonly Problem[];
  /** The feed heads that were verified, by tenant: note them to find a later truncation. */
  readonly heads: Readonly<Record<string, string>>;
}

const PAGE = 200;

/** Payloads that are held in memory at one time. */
const GROUP_BYTES = 16 * 1024 * 1024;

/** After this many problems more would only repeat the news. */
const MAX_PROBLEMS = 1_000;

export async function verifyStore(store: Store, options: VerifyOptions): Promise<VerifyReport> {
  const run = new Verification(store, options);
  for (const tenant of await store.listTenants()) await run.verifyTenant(tenant);
  return run.report();
}

class Verification {
  readonly #store: Store;
  readonly #options: VerifyOptions;
  readonly #problems: Problem[] = [];
  readonly #heads: Record<string, string> = {};
  #headSeen = false;
  #tenants = 0;
  #sessions = 0;
  #entries = 0;
  #changes = 0;

  constructor(store: Store, options: VerifyOptions) {
    this.#store = store;
    this.#options = options;
  }

  report(): VerifyReport {
    const { head } = this.#options;
    if (head !== undefined && !this.#headSeen) {
      this.#add(
        "(all)",
        null,
        null,
        `no feed passes through the head ${head}: it was cut or rewritten`,
      );
    }
    return {
      ok: this.#problems.length === 0,
      tenants: this.#tenants,
      sessions: this.#sessions,
      entries: this.#entries,
      changes: this.#changes,
      problems: this.#problems,
      heads: this.#heads,
    };
  }

  async verifyTenant(tenant: string): Promise<void> {
    this.#tenants++;
    const erasures = new FeedErasures(this.#store, tenant);
    await this.#verifyFeed(tenant, erasures);
    await this.#verifySessions(tenant, erasures);
  }

  async #verifyFeed(tenant: string, erasures: FeedErasures): Promise<void> {
    const head = await this.#store.feedHead(tenant);
    let previous: Uint8Array = ZERO_HASH;
    let position = 0;
    let looked = 0;
    while (looked < head.position) {
      const page = await this.#store.listChanges(tenant, looked, PAGE, undefined);
      const changes = page.changes.filter((change) => change.position <= head.position);
      const through = Math.max(page.through, changes.at(-1)?.position ?? 0);
      if (through <= looked) break;
      // A page without changes lies in a hole: what comes behind it is looked at as well.
      looked = through;
      for (const change of changes) {
        previous = this.#verifyChange(tenant, change, position + 1, previous);
        position = change.position;
      }
      await this.#verifyFeedEntries(tenant, changes);
      for (const { sessionId, position } of await erasures.take(changes)) {
        const problem = `what is left of erased entries is not what change ${position} says`;
        this.#add(tenant, sessionId, null, problem);
      }
      this.#progress(tenant);
    }
    if (position !== head.position) {
      this.#add(tenant, null, null, `the feed ends at ${position}, its head says ${head.position}`);
    } else if (toHex(previous) !== toHex(head.hash)) {
      this.#add(tenant, null, null, "the feed's last hash is not its head");
    }
    this.#heads[tenant] = toHex(head.hash);
  }

  #verifyChange(
    tenant: string,
    change: ChangeRecord,
    expected: number,
    previous: Uint8Array,
  ): Uint8Array {
    this.#changes++;
    if (change.position !== expected) {
      this.#add(
        tenant,
        change.sessionId,
        change.entryId,
        `change ${expected} is missing from the feed`,
      );
    }
    const hash = toHex(changeHash(previous, change.position, changeBody(change)));
    if (hash !== toHex(change.hash)) {
      this.#add(
        tenant,
        change.sessionId,
        change.entryId,
        `change ${change.position} does not match its hash`,
      );
    }
    if (toHex(change.hash) === this.#options.head) this.#headSeen = true;
    return change.hash;
  }

  /** What the feed says was appended must be there unchanged, unless its session was deleted. */
  async #verifyFeedEntries(tenant: string, changes: readonly ChangeRecord[]): Promise<void> {
    const appended = changes.filter((change) => change.entryHash !== null);
    const ids = appended.map((change) => change.entryId ?? "");
    const { found, unreadable } = await findReadable(this.#store, tenant, ids);
    for (const change of appended) {
      // What cannot be read is told of when its session is looked at.
      if (unreadable.has(change.entryId ?? "")) continue;
      const entry = found.get(change.entryId ?? "");
      if (entry === undefined) {
        const session = await this.#store.findSession(tenant, change.sessionId ?? "");
        const deleted = await this.#store.findTombstone(tenant, change.sessionId ?? "");
        if (session !== undefined && deleted === undefined) {
          this.#add(
            tenant,
            change.sessionId,
            change.entryId,
            "the feed knows this entry, the session does not",
          );
        } else if (session === undefined && deleted === undefined) {
          this.#add(
            tenant,
            change.sessionId,
            change.entryId,
            "the session is gone without a tombstone",
          );
        }
      } else if (hashOf(entry) !== toHex(change.entryHash ?? ZERO_HASH)) {
        this.#add(
          tenant,
          change.sessionId,
          change.entryId,
          "the entry's hash is not the one in the feed",
        );
      }
    }
  }

  /**
   * Sessions are listed by their last interaction, so one that is written to meanwhile moves to the
   * front, past the page that is being read. The front is therefore looked at again until nothing
   * new is there.
   */
  async #verifySessions(tenant: string, erasures: FeedErasures): Promise<void> {
    const seen = new Set<string>();
    let since = 0;
    for (let before = -1; seen.size > before; ) {
      before = seen.size;
      const newest = await this.#verifyNewSessions(tenant, erasures, since, seen);
      since = Math.max(since, newest);
    }
  }

  /** Verifies the sessions since a time that are not in `seen`. Gives the newest time of all. */
  async #verifyNewSessions(
    tenant: string,
    erasures: FeedErasures,
    since: number,
    seen: Set<string>,
  ): Promise<number> {
    let newest = 0;
    let after: { lastInteractionAt: number; number: number } | undefined;
    do {
      const page = await this.#store.listSessions(
        tenant,
        { since },
        { limit: PAGE, ...(after === undefined ? {} : { after }) },
      );
      newest = Math.max(newest, page.sessions[0]?.lastInteractionAt ?? 0);
      for (const session of page.sessions) {
        if (seen.has(session.id)) continue;
        seen.add(session.id);
        await this.#verifyUnlessDeleted(tenant, session, erasures);
      }
      after = page.next;
    } while (after !== undefined);
    return newest;
  }

  async #verifyUnlessDeleted(
    tenant: string,
    session: Session,
    erasures: FeedErasures,
  ): Promise<void> {
    try {
      await this.#verifySession(tenant, session, erasures);
    } catch (error) {
      const deleted = await this.#store.findTombstone(tenant, session.id);
      if (!BackscrollError.is(error, "session_not_found") || deleted === undefined) throw error;
    }
  }

  async #verifySession(tenant: string, session: Session, erasures: FeedErasures): Promise<void> {
    this.#sessions++;
    const hashes = new Map<string, Uint8Array>();
    let sequence = 0;
    let messages = 0;
    let tokens = 0;
    let tombstones = 0;
    let unreadable = 0;
    while (sequence < session.entryCount) {
      const page = await readTree(this.#store, tenant, session.id, sequence);
      if (page.unreadable !== undefined) {
        const problem = `entry ${++sequence} of the session cannot be read: ${page.unreadable}`;
        this.#add(tenant, session.id, null, problem);
        unreadable++;
        continue;
      }
      await this.#verifyPayloads(tenant, session.id, page.entries);
      const entries = page.entries.filter((entry) => entry.sequence <= session.entryCount);
      if (entries.length === 0) break;
      for (const entry of entries) {
        if (entry.sequence !== ++sequence) {
          this.#add(tenant, session.id, entry.id, `entry ${sequence} of the session is missing`);
          sequence = entry.sequence;
        }
        const isOrphan = unreadable > 0 && entry.parentId !== null && !hashes.has(entry.parentId);
        // Below what cannot be read nothing can be computed.
        if (isOrphan) hashes.set(entry.id, fromHex(hashOf(entry)));
        else this.#verifyEntry(tenant, entry, hashes, page.rootHash ?? ZERO_HASH);
        if (entry.kind === "message" && entry.status === "committed") messages++;
        tokens += entry.usage === null ? 0 : totalTokens(entry.usage);
        if (isTombstone(entry)) tombstones++;
      }
      this.#progress(tenant);
    }
    if (sequence !== session.entryCount) {
      this.#add(
        tenant,
        session.id,
        null,
        `the session has ${sequence} entries, its row says ${session.entryCount}`,
      );
    }
    // Nothing can be counted, either.
    if (unreadable > 0) return;
    if (messages !== session.messageCount) {
      this.#add(
        tenant,
        session.id,
        null,
        `the session has ${messages} messages, its row says ${session.messageCount}`,
      );
    }
    for (const problem of await erasures.compare(session, { tombstones, tokens })) {
      this.#add(tenant, session.id, null, problem);
    }
    if (session.leaf !== null && !hashes.has(session.leaf)) {
      this.#add(tenant, session.id, session.leaf, "the active leaf is no entry of the session");
    }
  }

  #verifyEntry(
    tenant: string,
    entry: EntryRecord,
    hashes: Map<string, Uint8Array>,
    rootHash: Uint8Array,
  ): void {
    this.#entries++;
    const parent = entry.parentId === null ? rootHash : hashes.get(entry.parentId);
    if (parent === undefined) {
      this.#add(tenant, entry.sessionId, entry.id, "the entry's parent is missing");
    }
    const content =
      entry.content !== null && entry.nonce !== null
        ? contentHash(entry.nonce, entry.content)
        : (entry.contentHash ?? ZERO_HASH);
    const { usage } = entry;
    const hash = entryHash(parent ?? ZERO_HASH, content, entry, {
      ...entry,
      inputTokens: usage?.inputTokens ?? null,
      outputTokens: usage?.outputTokens ?? null,
      cacheCreationTokens: usage?.cacheCreationTokens ?? null,
      cacheReadTokens: usage?.cacheReadTokens ?? null,
    });
    if (!isTombstone(entry) && toHex(hash) !== hashOf(entry)) {
      this.#add(tenant, entry.sessionId, entry.id, "the entry does not match its hash");
    }
    // Later entries are compared with what is stored, so that one change is one problem.
    hashes.set(entry.id, fromHex(hashOf(entry)));
  }

  /** Large payloads are read a few at a time: a page of them could be gigabytes. */
  async #verifyPayloads(
    tenant: string,
    sessionId: string,
    entries: readonly EntryRecord[],
  ): Promise<void> {
    for (const ids of groupsBySize(entries.filter(hasPayloads))) {
      for (const [id, problem] of await findDamaged(this.#store, tenant, ids)) {
        this.#add(tenant, sessionId, id, problem);
      }
    }
  }

  #progress(tenant: string): void {
    this.#options.onProgress?.({ tenant, checked: this.#entries + this.#changes });
  }

  #add(tenant: string, sessionId: string | null, entryId: string | null, problem: string): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    this.#problems.push({ tenant, sessionId, entryId, problem });
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

/** In hex. One that is missing matches no other. */
function hashOf({ hash }: EntryRecord): string {
  return hash ?? toHex(ZERO_HASH);
}
