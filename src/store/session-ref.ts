/**
 * Short ids, for typing. Stored, and unique within a tenant.
 *
 * A short id is the first 8 characters of the agent's own id, which its users know, or of an id
 * that the caller chose; for a generated id (ULID) it is 8 characters of a hash, because ULIDs of
 * one second share their first 10 characters. Short ids are lengthened until unique.
 */

import { createHash } from "node:crypto";
import type { Origin } from "../model/session.ts";
import type { Row } from "./records.ts";

const SHORT_ID_LENGTH = 8;

/** Shorter ids of agents (`1`) are ambiguous. */
const MIN_LENGTH = 4;
const MAX_OWN_ID = 200;

/** Ids that can be typed without quotes. */
const TYPED = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Crockford's alphabet in lower case: no i, l, o or u. */
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The agent's own id of the session, from its origin key. */
export function ownIdOf({ key, workstation, projectId, source }: Origin): string | null {
  if (key === undefined) return null;
  const begins = [`${workstation}:${projectId}:`, `${source}:`];
  const begin = begins.find((each) => key.startsWith(each));
  const own = begin === undefined ? "" : key.slice(begin.length);
  // Derived from the file name, for a session without an id.
  if (own === "" || own.length > MAX_OWN_ID || own.startsWith("file-")) return null;
  return own;
}

/** The longest prefix that is still easy to recognise. */
const MAX_PREFIX = 40;
/** Letters of a hash that distinguish sessions with equal ids. */
const SUFFIXES: readonly number[] = [4, 6, 8, 16, 32];

/** Candidates for a session's short id, best first; a store takes the first free one. */
export function shortIdCandidates(id: string, ownId: string | null): readonly string[] {
  const known = [ownId, ULID.test(id) ? null : id].find(isTyped) ?? "";
  const hash = hashOf(id);
  const whole = known === "" ? hash : known;
  const lengths = Math.max(1, Math.min(whole.length, MAX_PREFIX) - SHORT_ID_LENGTH + 1);
  const prefixes = Array.from({ length: lengths }, (_, i) => whole.slice(0, SHORT_ID_LENGTH + i));
  const base = whole.slice(0, SHORT_ID_LENGTH);
  const suffixed = SUFFIXES.map((length) => `${base}-${hash.slice(0, length)}`);
  return [...prefixes.filter((each) => !each.endsWith("-")), ...suffixed];
}

/** `taken` are the candidates that other sessions have. */
export function chooseShortId(
  candidates: readonly string[],
  taken: ReadonlySet<string>,
): string | null {
  return candidates.find((each) => !taken.has(each)) ?? null;
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

function isTyped(id: string | null): id is string {
  return id !== null && id.length >= MIN_LENGTH && TYPED.test(id);
}

function hashOf(id: string): string {
  const bytes = createHash("sha256").update(id).digest();
  return Array.from(bytes, (byte) => LETTERS[byte & 31]).join("");
}

export interface SessionRef {
  readonly id: string;
  readonly shortId: string;
  /** The agent's own id; null for a session written through the API. */
  readonly ownId: string | null;
  readonly title: string;
}

/** The minimum length of a prefix. */
const MIN_REF_PREFIX = 4;

/** The limit of sessions given for a prefix. */
export const MAX_REFS = 10;

export const REF_COLUMNS = "s.id, s.short_id, s.own_id, s.title";

export function toSessionRef(row: Row): SessionRef {
  return {
    id: String(row["id"]),
    shortId: String(row["short_id"] ?? row["id"]),
    ownId: row["own_id"] as string | null,
    title: String(row["title"] ?? ""),
  };
}

/**
 * The values of a look-up: the text, and the range of its prefix. An empty range if the text is too
 * short.
 */
export function refRange(ref: string): readonly [ref: string, from: string, end: string] {
  if (ref.length < MIN_REF_PREFIX) return [ref, "", ""];
  return [ref, ref, `${ref}\u{10FFFF}`];
}

/** The sessions that `ref` names exactly: a short id takes precedence over an agent's own. */
export function namedRefs(refs: readonly SessionRef[], ref: string): readonly SessionRef[] {
  const short = refs.filter(({ id, shortId }) => id === ref || shortId === ref);
  return short.length > 0 ? short : refs.filter(({ ownId }) => ownId === ref);
}
