/** Maps rows to the input of an append: a session's state, and points of its tree. */

import { type EntryKind, kindRules } from "../../model/entry.ts";
import { ZERO_HASH } from "../../transcript/hash.ts";
import type { PathEnd } from "../../transcript/path.ts";
import type { Chain, Point } from "../../transcript/place.ts";
import { sessionDamaged } from "../damage/damage-errors.ts";
import { storedBytesOrNull } from "../damage/stored-json.ts";
import type { SessionState } from "../plan/plan-append.ts";
import type { Row } from "../records.ts";

/** The columns of a session's state, from `sessions` (s) and `session_state` (t). */
export const STATE_COLUMNS = `s.session, s.root_hash, t.leaf_id, t.leaf_sequence, t.leaf_chain,
  t.leaf_depth, t.leaf_ordinal, t.leaf_hash, t.leaf_at_tip, t.last_sequence, t.last_chain,
  t.updated_at, t.last_interaction_at`;

/**
 * Two consistency checks of denormalised values: the leaf's place and the last assigned numbers
 * must agree with the entries and chains. A lower number would overwrite an entry, a higher one
 * would leave a gap. Not for a statement that waits for a lock: PostgreSQL would compare the state
 * after the wait with entries before it.
 */
export const STATE_CHECKS = `CASE WHEN EXISTS (SELECT 1 FROM entries l WHERE l.tenant = t.tenant AND l.id = t.leaf_id
      AND l.session = t.session AND l.sequence = t.leaf_sequence AND l.chain = t.leaf_chain
      AND l.depth = t.leaf_depth AND l.ordinal = t.leaf_ordinal AND l.hash = t.leaf_hash)
    OR (t.leaf_id IS NULL AND t.leaf_sequence IS NULL AND t.leaf_hash IS NULL)
    THEN 1 ELSE 0 END AS leaf_is_entry,
  CASE WHEN t.last_sequence = coalesce((SELECT max(l.sequence) FROM entries l
      WHERE l.tenant = t.tenant AND l.session = t.session), 0)
    AND t.last_chain = coalesce((SELECT max(c.chain) FROM chains c
      WHERE c.tenant = t.tenant AND c.session = t.session), 0)
    THEN 1 ELSE 0 END AS last_is_newest`;

/** A session's state and its number. */
export interface NumberedSession {
  readonly number: number;
  readonly state: SessionState;
}

/** Throws `store_corrupt` if one of `STATE_CHECKS` is selected and fails, unless `isRaw`. */
export function toNumberedSession(row: Row, sessionId: string, isRaw = false): NumberedSession {
  if (!isRaw && (row["leaf_is_entry"] ?? 1) !== 1) {
    throw sessionDamaged(sessionId, "its active leaf contradicts the leaf's entry");
  }
  if (!isRaw && (row["last_is_newest"] ?? 1) !== 1) {
    throw sessionDamaged(
      sessionId,
      `its row says ${row["last_sequence"]} entries and ${row["last_chain"]} chains, but its newest have other numbers`,
    );
  }
  return {
    number: Number(row["session"]),
    state: {
      sessionId,
      leaf: row["leaf_id"] === null ? null : toLeaf(row),
      lastSequence: Number(row["last_sequence"]),
      lastChain: Number(row["last_chain"]),
      rootHash: storedBytesOrNull(row["root_hash"], `session ${sessionId}`) ?? ZERO_HASH,
      updatedAt: Number(row["updated_at"]),
      lastInteractionAt: Number(row["last_interaction_at"]),
    },
  };
}

/** `at_tip` is 1 for the deepest entry of its chain. */
export function toPoint(row: Row): Point {
  return {
    id: String(row["id"]),
    sequence: Number(row["sequence"]),
    chain: Number(row["chain"]),
    depth: Number(row["depth"]),
    ordinal: Number(row["ordinal"]),
    hash: row["hash"] as Uint8Array,
    atTip: row["at_tip"] === 1,
    annotation: !kindRules(row["kind"] as EntryKind).movesLeaf || row["status"] !== "committed",
  };
}

/** An entry's place. */
export function toPathEnd({ chain, depth, ordinal }: Row): PathEnd {
  return { chain: Number(chain), depth: Number(depth), ordinal: Number(ordinal) };
}

export function toChain(row: Row): Chain {
  return {
    chain: Number(row["chain"]),
    parentChain: Number(row["parent_chain"]),
    forkDepth: Number(row["fork_depth"]),
    forkOrdinal: Number(row["fork_ordinal"]),
  };
}

function toLeaf(row: Row): Point {
  return {
    id: String(row["leaf_id"]),
    sequence: Number(row["leaf_sequence"]),
    chain: Number(row["leaf_chain"]),
    depth: Number(row["leaf_depth"]),
    ordinal: Number(row["leaf_ordinal"]),
    hash: row["leaf_hash"] as Uint8Array,
    atTip: row["leaf_at_tip"] === 1,
    annotation: false,
  };
}
