/**
 * Short ids: what people type. Stored, and unique within a tenant.
 *
 * The first 8 characters of the id that the agent itself uses, which its users know; where there is
 * none, 8 characters of a hash of the session's id. Either is lengthened until no other session has
 * it. ULIDs cannot be shortened: those of one second share their first 10 characters.
 */

import { createHash } from "node:crypto";
import type { Origin } from "../model/session.ts";

export const SHORT_ID_LENGTH = 8;

/** A shorter id of an agent ("1") would be no id of a session to anybody. */
const MIN_LENGTH = 4;
const MAX_OWN_ID = 200;

/** What can be typed without quotes. */
const TYPED = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Crockford's alphabet in lower case: no i, l, o or u. */
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The id by which the agent knows the session, as its origin key tells it. */
export function ownIdOf({ key, workstation, projectId, source }: Origin): string | null {
  if (key === undefined) return null;
  const begins = [`${workstation}:${projectId}:`, `${source}:`];
  const begin = begins.find((each) => key.startsWith(each));
  const own = begin === undefined ? "" : key.slice(begin.length);
  // Made of the file's name for a session that has none.
  if (own === "" || own.length > MAX_OWN_ID || own.startsWith("file-")) return null;
  return own;
}

/** All candidates begin with it: whoever chooses one has to know the ids that do. */
export function shortIdBase(id: string, ownId: string | null): string {
  return baseOf(id, ownId).slice(0, SHORT_ID_LENGTH);
}

/** The end of the range of ids that begin with `base`, in the order of code points. */
export function shortIdEnd(base: string): string {
  return base.slice(0, -1) + String.fromCharCode(base.charCodeAt(base.length - 1) + 1);
}

/** `taken` are the short ids of the tenant that begin with `shortIdBase`. */
export function chooseShortId(
  id: string,
  ownId: string | null,
  taken: ReadonlySet<string>,
): string {
  const whole = baseOf(id, ownId);
  for (let length = SHORT_ID_LENGTH; length <= Math.max(whole.length, SHORT_ID_LENGTH); length++) {
    const short = whole.slice(0, length);
    if (!short.endsWith("-") && !taken.has(short)) return short;
  }
  // Another session has all of the agent's id.
  const rest = hashOf(id);
  const base = whole.slice(0, SHORT_ID_LENGTH);
  for (let length = 4; ; length++) {
    const short = `${base}-${rest.slice(0, length)}`;
    if (!taken.has(short)) return short;
  }
}

function baseOf(id: string, ownId: string | null): string {
  return ownId !== null && ownId.length >= MIN_LENGTH && TYPED.test(ownId) ? ownId : hashOf(id);
}

function hashOf(id: string): string {
  const bytes = createHash("sha256").update(id).digest();
  return Array.from(bytes, (byte) => LETTERS[byte & 31]).join("");
}
