/**
 * Following the change feed.
 *
 * The feed's table is the truth; a wake-up only says that it is worth a look. A subscriber that
 * resumes with the cursor of the last change it has seen misses none and sees none twice.
 */

import type { Change } from "../model/change.ts";
import { BackscrollError } from "../model/errors.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { rowDamaged } from "../store/damage/damage-errors.ts";
import { storedObject } from "../store/damage/stored-json.ts";
import type { ChangePage, ChangeRecord, FeedHead } from "../store/records.ts";
import { toHex } from "../transcript/hash.ts";
import { checkKey, checkLimit } from "./check.ts";
import type { Scope } from "./scope.ts";

export interface SubscribeInput {
  /** Only the changes of this session. */
  readonly session?: string;
  /** The cursor of the last change seen; from now on if left out. `start` means the whole feed. */
  readonly after?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface ListChangesInput {
  readonly session?: string;
  /** As for `subscribe`; the whole feed if left out. `end` gives no change, and where the feed is now. */
  readonly after?: string;
  readonly limit?: number;
}

export interface ChangeListPage {
  readonly changes: Change[];
  /** How far this page has looked: pass it as `after`. */
  readonly next: string;
  /** Whether there is nothing after it yet. */
  readonly end: boolean;
}

/** How long a subscriber sleeps at most when no wake-up comes. */
const LONGEST_SLEEP_MS = 1_000;

const START = "start";
const END = "end";

export async function listChanges(scope: Scope, input: ListChangesInput): Promise<ChangeListPage> {
  const { store, tenant } = scope;
  const limit = checkLimit(input.limit);
  if (input.session !== undefined) checkKey(input.session, "session");
  const head = await store.feedHead(tenant);
  const after = parseCursor(input.after ?? START, head);
  const page = await store.listChanges(tenant, after, limit, input.session);
  if (input.session === undefined) checkPage(page, after, Math.min(limit, head.position - after));
  return {
    changes: page.changes.map((record) => toChange(record, head.epoch)),
    next: formatCursor(head.epoch, page.through),
    end: page.through >= head.position,
  };
}

/** "From now" means from this call, not from the first change that is asked for. */
export function subscribe(scope: Scope, input: SubscribeInput): AsyncGenerator<Change, void> {
  const head = scope.store.feedHead(scope.tenant);
  // Whoever iterates hears of a failure; nobody has to.
  head.catch(() => undefined);
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, ...(input.signal ? [input.signal] : [])]);
  const changes = follow(scope, { ...input, signal }, head);
  const finish = changes.return.bind(changes);
  // Left to itself, a generator ends only after the change that it waits for.
  changes.return = (value) => {
    ended.abort();
    return finish(value);
  };
  return changes;
}

async function* follow(
  scope: Scope,
  input: SubscribeInput & { readonly signal: AbortSignal },
  firstHead: Promise<FeedHead>,
): AsyncGenerator<Change, void> {
  const { store, tenant } = scope;
  const { session, signal } = input;
  if (session !== undefined) checkKey(session, "session");
  const wake = new WakeUp();
  // Listening starts before the first look, so that nothing falls between the two.
  const stop = store.onChange(() => wake.ring());
  const abort = () => wake.ring();
  signal.addEventListener("abort", abort);
  try {
    const head = await firstHead;
    let position = input.after === undefined ? head.position : parseCursor(input.after, head);
    while (!signal.aborted) {
      const page = await store.listChanges(tenant, position, MAX_PAGE, session);
      if (session === undefined) checkPage(page, position, page.through - position);
      for (const record of page.changes) {
        if (signal.aborted) return;
        position = record.position;
        yield toChange(record, head.epoch);
      }
      const stuck = page.through <= position && page.changes.length === 0;
      position = Math.max(position, page.through);
      if (stuck) await wake.wait(LONGEST_SLEEP_MS);
    }
  } catch (error) {
    // A store that was closed has no more changes; that is an end, not a failure.
    if (!BackscrollError.is(error, "store_closed")) throw error;
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
  }
}

/** Remembers a ring that came while nobody was waiting. */
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

/** Positions have no gap: throws `store_corrupt` where one is missing, or fewer than `least` came. */
function checkPage({ changes }: ChangePage, after: number, least: number): void {
  const gap = changes.findIndex(({ position }, i) => position !== after + 1 + i);
  if (gap < 0 && changes.length >= least) return;
  const missing = after + 1 + (gap < 0 ? changes.length : gap);
  throw rowDamaged(`change ${missing} of the feed`, "it is missing");
}

function toChange(record: ChangeRecord, epoch: string): Change {
  return {
    position: record.position,
    cursor: formatCursor(epoch, record.position),
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

function formatCursor(epoch: string, position: number): string {
  return `${epoch}.${position}`;
}

function parseCursor(
  cursor: string,
  head: { readonly epoch: string; readonly position: number },
): number {
  if (cursor === START) return 0;
  if (cursor === END) return head.position;
  const match = /^([0-9a-f-]+)\.(\d{1,15})$/.exec(String(cursor));
  if (match === null) {
    throw new BackscrollError(
      "invalid_cursor",
      `"${String(cursor).slice(0, 80)}" is no cursor of the change feed; use one that a change carried, or "start"`,
    );
  }
  const position = Number(match[2]);
  if (match[1] === head.epoch && position <= head.position) return position;
  throw new BackscrollError(
    "cursor_expired",
    `the cursor belongs to another life of this store (it was restored); read the state anew and subscribe from "start" or from now`,
    { details: { position } },
  );
}
