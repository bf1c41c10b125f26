/** Opaque cursors of pages and of the change feed, validated on return. */

import { BackscrollError } from "../model/errors.ts";
import { MARK_LENGTH, shownMark } from "../search/hits/shown-mark.ts";
import type { FeedHead, SessionPosition } from "../store/records.ts";
import { sha256, toHex } from "../transcript/hash.ts";

export function formatPageCursor(position: SessionPosition): string {
  return Buffer.from(`s1:${position.lastInteractionAt}:${position.number}`).toString("base64url");
}

export function parsePageCursor(cursor: string): SessionPosition {
  const [at = 0, number = 0] = readNumbers(cursor, /^s1:(\d{1,15}):(\d{1,15})$/);
  return { lastInteractionAt: at, number };
}

/** A place in a sorted list. */
export function formatOffsetCursor(offset: number): string {
  return Buffer.from(`o1:${offset}`).toString("base64url");
}

export function parseOffsetCursor(cursor: string): number {
  return readNumbers(cursor, /^o1:(\d{1,9})$/)[0] ?? 0;
}

function readNumbers(cursor: string, form: RegExp): number[] {
  const match = form.exec(Buffer.from(String(cursor), "base64url").toString());
  if (match !== null) return match.slice(1).map(Number);
  throw new BackscrollError("invalid_cursor", "cursor was not given by a list; start without one", {
    details: { field: "cursor" },
  });
}

/** Hits that the cursor of a search can name: it has a mark of each. */
export const MAX_SEEN = 200;
const SEARCH_CURSOR = new RegExp(`^(?:[0-9a-z]{${MARK_LENGTH}}){1,${MAX_SEEN + 1}}$`);

/** A mark of the query, and of each message that was shown. */
export function formatSearchCursor(seen: readonly string[], query: string): string {
  return [shownMark(query), ...seen].join("");
}

export function parseSearchCursor(cursor: string, query: string): readonly string[] {
  const marks = SEARCH_CURSOR.test(String(cursor))
    ? (cursor.match(new RegExp(`.{${MARK_LENGTH}}`, "g")) ?? [])
    : [];
  if (marks[0] === shownMark(query)) return marks.slice(1);
  const why = marks.length > 0 ? "is of another query" : "was not given by a search";
  throw new BackscrollError("invalid_cursor", `cursor ${why}; start without one`, {
    details: { field: "cursor" },
  });
}

/** The position of a change in a feed, and the feed's identity. */
export interface FeedCursor {
  readonly tenant: string;
  readonly epoch: string;
  readonly position: number;
  readonly hash: string;
}

/** Enough to distinguish two tenants of a store, without revealing names. */
const TENANT_HEX = 8;
/** Hexadecimal digits of the change's hash, which covers all changes before it. */
const HASH_HEX = 16;

const FEED_CURSOR = /^f2\.([0-9a-f]{8})\.([0-9a-f-]{1,64})\.(\d{1,15})\.([0-9a-f]{16})$/;
/** The old format, without tenant and hash. */
const OLD_FEED_CURSOR = /^[0-9a-f-]{8,64}\.\d{1,15}$/;

/** The cursor of the change at `position`, whose hash is given; at 0 it is the start of the feed. */
export function formatFeedCursor(
  tenant: string,
  epoch: string,
  position: number,
  hash: Uint8Array,
): string {
  return `f2.${tenantTag(tenant)}.${epoch}.${position}.${toHex(hash).slice(0, HASH_HEX)}`;
}

/**
 * Throws `invalid_cursor` for text that is no feed cursor, `cursor_expired` for an older version's.
 */
export function parseFeedCursor(cursor: string): FeedCursor {
  const match = FEED_CURSOR.exec(String(cursor));
  if (match !== null) {
    const [, tenant = "", epoch = "", position = "", hash = ""] = match;
    return { tenant, epoch, position: Number(position), hash };
  }
  if (OLD_FEED_CURSOR.test(String(cursor))) {
    throw cursorExpired("it is from an older version of Backscroll");
  }
  throw new BackscrollError(
    "invalid_cursor",
    `"${String(cursor).slice(0, 80)}" is no cursor of the change feed; use the cursor of a change, or "start"`,
  );
}

/** Throws `cursor_expired` unless the cursor names a change of this feed. */
export function checkFeedCursor(cursor: FeedCursor, tenant: string, head: FeedHead): void {
  const { position } = cursor;
  if (cursor.tenant !== tenantTag(tenant)) throw cursorExpired("it is from another tenant");
  if (cursor.epoch !== head.epoch) {
    throw cursorExpired("it belongs to another epoch of this store, which was restored since");
  }
  const { hashAt } = head;
  if (hashAt === undefined || toHex(hashAt).slice(0, HASH_HEX) !== cursor.hash) {
    throw cursorExpired(`the store has another change ${position}, or none: it is another copy`);
  }
}

function cursorExpired(why: string): BackscrollError {
  return new BackscrollError(
    "cursor_expired",
    `the cursor is not one of this feed: ${why}; read the state again and subscribe from "start" or from now`,
  );
}

function tenantTag(tenant: string): string {
  return toHex(sha256(Buffer.from(tenant))).slice(0, TENANT_HEX);
}
