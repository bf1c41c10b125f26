/** Which entries to read, and what comes back: always a page. */

import type { EntryKind } from "../model/entry.ts";
import type { Chain } from "../transcript/place.ts";
import type { EntryRecord } from "./records.ts";

/** Entries and the payloads that were asked for along with them. */
export interface EntryPage {
  readonly entries: readonly EntryRecord[];
  readonly payloads: ReadonlyMap<string, Uint8Array>;
  /** For pages of a path: messages on it. For pages of a tree: entries in the session. */
  readonly total: number;
  /** For pages of a tree: the hash that the session's roots build upon. */
  readonly rootHash?: Uint8Array;
  /** For raw pages of a tree from its start: the session's chains. */
  readonly chains?: readonly Chain[];
  /** For pages of history: what of these marks the session has, on whichever path. */
  readonly marks?: { readonly summary: boolean; readonly pinned: boolean };
}

/** Which entries to read. Payloads are read only when `payloads` is true. */
export type EntryQuery =
  /** Messages on the path to `leaf` (absent: the active leaf), by index. */
  | {
      readonly select: "messages";
      readonly sessionId: string;
      readonly leaf?: string;
      readonly offset: number;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** The newest messages of the path and what else is asked for, in order, ending before an entry. */
  | {
      readonly select: "history";
      readonly sessionId: string;
      readonly leaf?: string;
      readonly before?: string;
      readonly include: HistoryKinds;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** The entries of a session, or of one path of it, that bear a mark, by sequence: the newest. */
  | {
      readonly select: "marked";
      readonly sessionId: string;
      readonly mark: EntryMark;
      /** Only on the path to this entry; null: on the active path. Absent: anywhere. */
      readonly leaf?: string | null;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** Every entry of the path, root first; an annotation follows the entry it belongs to. */
  | {
      readonly select: "path";
      readonly sessionId: string;
      readonly leaf?: string;
      /** The last entry of the page before. */
      readonly after?: string;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** Every entry of every branch, by sequence. */
  | {
      readonly select: "tree";
      readonly sessionId: string;
      readonly afterSequence: number;
      readonly limit: number;
      readonly payloads: boolean;
      /** Entries as they are stored, damaged or not: for a verification, which checks them itself. */
      readonly isRaw?: boolean;
    };

/** Beside messages: no other kind, compactions, or all kinds that enter the context. */
export type HistoryKinds = "messages" | "summaries" | "context";

/** The kinds that a page of history has; it always asks for as many, so that one statement does. */
export const HISTORY_KINDS: Readonly<
  Record<HistoryKinds, readonly [EntryKind, EntryKind, EntryKind, EntryKind]>
> = {
  messages: ["message", "message", "message", "message"],
  summaries: ["message", "compaction", "compaction", "compaction"],
  context: ["message", "compaction", "branch_summary", "custom_message"],
};

/** Kinds of entries that are found without reading a session: each has an index of its own. */
export type EntryMark =
  | "label"
  | "pinned"
  /** Replaced by an edit or a regeneration. */
  | "superseded"
  /** Compactions and summaries. */
  | "summary";
