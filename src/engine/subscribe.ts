/**
 * Follows the change feed.
 *
 * The feed's table is authoritative; a wake-up only triggers a read. A subscriber that resumes with
 * its last cursor misses no change and sees none twice.
 */

import { pause } from "../async/pause.ts";
import type { Change } from "../model/change.ts";
import { BackscrollError } from "../model/errors.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { rowDamaged } from "../store/damage/damage-errors.ts";
import { storedObject } from "../store/damage/stored-json.ts";
import type { ChangePage, ChangeRecord, FeedHead } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { toHex, ZERO_HASH } from "../transcript/hash.ts";
import { checkInput, checkLimit } from "./check.ts";
import { checkFeedCursor, formatFeedCursor, parseFeedCursor } from "./cursor.ts";
import type { EngineContext } from "./engine-context.ts";
import { isOutage } from "./leases/outage.ts";

export interface SubscribeInput {
  /** Only the changes of this session. */
  readonly session?: string;
  /** The cursor of the last change seen. Default: from now on. `start`: the whole feed. */
  readonly after?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface ListChangesInput {
  readonly session?: string;
  /**
   * As for `subscribe`. Default: the whole feed. `end` gives no change, only the feed's current
   * end.
   */
  readonly after?: string;
  readonly limit?: number;
}

export interface ChangeListPage {
  readonly changes: Change[];
  /** The cursor after this page: pass it as `after`. */
  readonly next: string;
  /** Whether this is the last page so far. */
  readonly end: boolean;
}

/** The longest sleep without a wake-up. */
const LONGEST_SLEEP_MS = 1_000;
/** The interval of attempts during an outage of the store. */
const RETRY_MS = 500;

const START = "start";
const END = "end";

export async function listChanges(
  engine: EngineContext,
  input: ListChangesInput,
): Promise<ChangeListPage> {
  const { store, tenant } = engine;
  checkInput(input, "options", INPUTS.listChanges);
  const limit = checkLimit(input.limit);
  const { head, position: after, hash } = await startOf(engine, input.after ?? START);
  const page = await store.listChanges(tenant, after, limit, input.session);
  if (input.session === undefined) checkPage(page, after, Math.min(limit, head.position - after));
  const { epoch } = head;
  const reached = page.through === after ? hash : await hashAt(engine, page, page.through, head);
  return {
    changes: page.changes.map((record) => toChange(record, tenant, epoch)),
    next: formatFeedCursor(tenant, epoch, page.through, reached),
    end: page.through >= head.position,
  };
}

/** A reader's start position. */
interface FeedStart {
  readonly head: FeedHead;
  readonly position: number;
  /** Hash of the change at the position. */
  readonly hash: Uint8Array;
}

/** Validates a cursor against the feed. Without one: from now on. */
async function startOf(
  { store, tenant }: EngineContext,
  after: string | undefined,
): Promise<FeedStart> {
  if (after === START) return { head: await store.feedHead(tenant), position: 0, hash: ZERO_HASH };
  if (after === undefined || after === END) {
    const head = await store.feedHead(tenant);
    return { head, position: head.position, hash: head.hash };
  }
  const cursor = parseFeedCursor(after);
  const { position } = cursor;
  const head = await store.feedHead(tenant, position);
  checkFeedCursor(cursor, tenant, head);
  return { head, position, hash: head.hashAt ?? ZERO_HASH };
}

/** The hash of the last scanned change, which a filter may have left out. */
async function hashAt(
  { store, tenant }: EngineContext,
  { changes }: ChangePage,
  position: number,
  head: FeedHead,
): Promise<Uint8Array> {
  const last = changes.at(-1);
  if (last?.position === position) return last.hash;
  if (position === head.position) return head.hash;
  const { hashAt } = await store.feedHead(tenant, position);
  if (hashAt === undefined) throw rowDamaged(`change ${position} of the feed`, "it is missing");
  return hashAt;
}

/**
 * Without `after`, the subscription starts at the feed's end as of this call, not as of the first
 * `next`. Reading the end takes a moment: a write that begins meanwhile may precede it.
 *
 * An outage of the store rejects the first `next`, and is waited for later: the iteration resumes
 * after the last change given out.
 */
export function subscribe(
  engine: EngineContext,
  input: SubscribeInput,
): AsyncGenerator<Change, void> {
  checkInput(input, "options", INPUTS.subscribe);
  const start = startOf(engine, input.after);
  // A failure rejects the iteration; this avoids an unhandled rejection before it starts.
  start.catch(() => undefined);
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, ...(input.signal ? [input.signal] : [])]);
  const changes = follow(engine, { ...input, signal }, start);
  const finish = changes.return.bind(changes);
  // By default a generator's return waits for the pending change.
  changes.return = (value) => {
    ended.abort();
    return finish(value);
  };
  return changes;
}

async function* follow(
  engine: EngineContext,
  input: SubscribeInput & { readonly signal: AbortSignal },
  start: Promise<FeedStart>,
): AsyncGenerator<Change, void> {
  const { store, tenant } = engine;
  const { session, signal } = input;
  const wake = new WakeUp();
  // Listen before the first read, so that no change is missed in between.
  const stop = store.onChange(() => {
    READING.get(store)?.clear();
    wake.ring();
  });
  const abort = () => wake.ring();
  signal.addEventListener("abort", abort);
  try {
    const { head, position: first, hash } = await start;
    let position = first;
    let last = { position: first, hash };
    let switches = store.switches?.();
    while (!signal.aborted) {
      let page: ChangePage;
      try {
        page = await readPage(engine, position, session);
        if (switches !== store.switches?.()) {
          // After a failover the new server must have the changes already given out, and this page
          // may mix both.
          await checkContinued(engine, head.epoch, last);
          switches = store.switches?.();
          position = last.position;
          continue;
        }
      } catch (error) {
        if (!isOutage(error)) throw error;
        await pause(RETRY_MS, signal);
        continue;
      }
      if (session === undefined) checkPage(page, position, page.through - position);
      for (const record of page.changes) {
        if (signal.aborted) return;
        position = record.position;
        last = record;
        yield toChange(record, tenant, head.epoch);
      }
      const stuck = page.through <= position && page.changes.length === 0;
      position = Math.max(position, page.through);
      if (stuck) await wake.wait(LONGEST_SLEEP_MS);
    }
  } catch (error) {
    // Closing the store ends the iteration without an error.
    if (!BackscrollError.is(error, "store_closed")) throw error;
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
  }
}

/** Pages being read since the last change. */
const READING = new WeakMap<Store, Map<string, Promise<ChangePage>>>();

/**
 * A change wakes all subscribers of a store at once. Those at the same position share one read: with
 * a thousand, their reads would hold up everyone else's.
 */
function readPage(
  { store, tenant }: EngineContext,
  position: number,
  session: string | undefined,
): Promise<ChangePage> {
  const reading = READING.get(store) ?? new Map<string, Promise<ChangePage>>();
  READING.set(store, reading);
  const key = JSON.stringify([tenant, position, session, store.switches?.()]);
  const known = reading.get(key);
  if (known !== undefined) return known;
  const page = store.listChanges(tenant, position, MAX_PAGE, session).finally(() => {
    if (reading.get(key) === page) reading.delete(key);
  });
  reading.set(key, page);
  return page;
}

/** Throws `cursor_expired` unless the feed still has the last change given out. */
async function checkContinued(
  { store, tenant }: EngineContext,
  epoch: string,
  { position, hash }: { readonly position: number; readonly hash: Uint8Array },
): Promise<void> {
  const cursor = parseFeedCursor(formatFeedCursor(tenant, epoch, position, hash));
  checkFeedCursor(cursor, tenant, await store.feedHead(tenant, position));
}

/** An auto-reset event: a signal without a waiter is kept for the next one. */
class WakeUp {
  #rung = false;
  #waiter: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiter?.();
  }

  async wait(longestMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, longestMs);
        this.#waiter = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#waiter = undefined;
    }
    this.#rung = false;
  }
}

/**
 * Positions have no gaps: throws `store_corrupt` where one is missing, or fewer than `least` came.
 */
function checkPage({ changes }: ChangePage, after: number, least: number): void {
  const gap = changes.findIndex(({ position }, i) => position !== after + 1 + i);
  if (gap < 0 && changes.length >= least) return;
  const missing = after + 1 + (gap < 0 ? changes.length : gap);
  throw rowDamaged(`change ${missing} of the feed`, "it is missing");
}

function toChange(record: ChangeRecord, tenant: string, epoch: string): Change {
  return {
    position: record.position,
    cursor: formatFeedCursor(tenant, epoch, record.position, record.hash),
    kind: record.kind,
    at: record.at,
    sessionId: record.sessionId,
    entryId: record.entryId,
    details: storedObject(record.details, (cause) =>
      rowDamaged(`change ${record.position} of the feed`, "its details are no JSON", cause),
    ),
    hash: toHex(record.hash),
  };
}
