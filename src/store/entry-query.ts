/** Queries of entries; every answer is a page. */

import type { EntryKind } from "../model/entry.ts";
import type { Chain } from "../transcript/place.ts";
import type { EntryRecord } from "./records.ts";

/** Entries, with their payloads if requested. */
export interface EntryPage {
  readonly entries: readonly EntryRecord[];
  readonly payloads: ReadonlyMap<string, Uint8Array>;
  /** For pages of a path: messages on it. For pages of a tree: entries in the session. */
  readonly total: number;
  /** For pages of a tree: the hash that the session's roots continue. */
  readonly rootHash?: Uint8Array;
  /** For raw pages of a tree from its start: the session's chains. */
  readonly chains?: readonly Chain[];
  /** For pages of history: the marks that the session has, on any path. */
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
  /**
   * The newest messages of the path (and other kinds, if requested), in order, ending before an
   * entry.
   */
  | {
      readonly select: "history";
      readonly sessionId: string;
      readonly leaf?: string;
      readonly before?: string;
      readonly include: HistoryKinds;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** The newest entries with a mark, of a session or of one path, by sequence. */
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
      /** The last entry of the previous page. */
      readonly after?: string;
      readonly limit: number;
      readonly payloads: boolean;
    }
  /** Every entry of every branch, by sequence. */
  | {
      readonly select: "tree";
      readonly sessionId: string;
      readonly afterSequence: number;
      /** The last entry of the previous page, in place of its sequence. */
      readonly after?: string;
      readonly limit: number;
      readonly payloads: boolean;
      /** Entries as stored, unchecked: for `verify`. */
      readonly isRaw?: boolean;
    };

/** Kinds beside messages: none, compactions, or all that enter the context. */
export type HistoryKinds = "messages" | "summaries" | "context";

/** The kinds of a page of history; always the same number, so that one statement suffices. */
export const HISTORY_KINDS: Readonly<
  Record<HistoryKinds, readonly [EntryKind, EntryKind, EntryKind, EntryKind]>
> = {
  messages: ["message", "message", "message", "message"],
  summaries: ["message", "compaction", "compaction", "compaction"],
  context: ["message", "compaction", "branch_summary", "custom_message"],
};

/** Marks with an index of their own, so that they are found without reading the session. */
export type EntryMark =
  | "label"
  | "pinned"
  /** Superseded by an edit or a regeneration. */
  | "superseded"
  /** Compactions and summaries. */
  | "summary";
