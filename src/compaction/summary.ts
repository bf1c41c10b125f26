/**
 * The structure of a summary, and the summarizer port.
 *
 * The structure is stored with the text. A later summary is made from the previous structure and
 * new entries, never from prose: repeatedly merged text compounds its errors.
 */

import type { Entry } from "../model/entry.ts";
import { isPlainObject } from "../model/json.ts";

/** A line of a summary with its source entry. */
export interface CitedText {
  readonly text: string;
  readonly entryId: string;
}

export interface TimelineLine extends CitedText {
  readonly role: string;
  /** Who spoke; absent in structures of 0.1.0. */
  readonly actor?: string;
}

/** Folded lines of a timeline: messages by role, first and last entry. */
export interface TimelineFold {
  readonly from: string;
  readonly through: string;
  readonly messages: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

export interface LedgerCommand extends CitedText {
  /** The outcome, if the result shows it. */
  readonly failed?: boolean;
}

export interface LedgerFile {
  readonly path: string;
  /** The newest entry that touched it. */
  readonly entryId: string;
  readonly times: number;
}

/** Commands and files, verbatim: prose summaries lose them first. */
export interface Ledger {
  readonly commands: readonly LedgerCommand[];
  /** The number of commands older than those listed. */
  readonly earlierCommands: number;
  readonly filesRead: readonly LedgerFile[];
  readonly filesChanged: readonly LedgerFile[];
  readonly earlierFiles: number;
}

export interface SummaryStructure {
  readonly version: 1;
  readonly scope: {
    readonly messages: number;
    readonly user: number;
    readonly assistant: number;
    readonly tool: number;
  };
  /** Sorted and distinct. */
  readonly tools: readonly string[];
  /** The last three, oldest first. */
  readonly requests: readonly CitedText[];
  readonly pending: readonly CitedText[];
  readonly keyFiles: readonly string[];
  readonly currentWork: CitedText | null;
  readonly folded: readonly TimelineFold[];
  readonly timeline: readonly TimelineLine[];
  readonly ledger: Ledger;
}

/** Whether a stored value is a structure of this version. */
export function isStructure(value: unknown): value is SummaryStructure {
  return isPlainObject(value) && value["version"] === 1 && isPlainObject(value["ledger"]);
}

export interface SummaryRequest {
  /** The summary of earlier entries, which the new one must include. */
  readonly previous: { readonly text: string; readonly structure: SummaryStructure | null } | null;
  /** The entries to cover, in order, with content. */
  readonly entries: readonly Entry[];
  /** The structure of `previous` and `entries` together. */
  readonly structure: SummaryStructure;
  /** `entries` end inside a turn. */
  readonly splitTurn: boolean;
  /** The caller's instructions; only a model follows them. */
  readonly instructions?: string;
  /** The approximate limit of the text, in tokens. */
  readonly maxTokens?: number;
  readonly signal?: AbortSignal;
}

export interface SummaryAnswer {
  readonly text: string;
  /** The model that wrote it; null for a mechanical summary. */
  readonly model: string | null;
  /** The AI SDK's reason; only `stop` is accepted. */
  readonly finishReason: string;
}

/** Writes summaries. An exception fails the compaction and leaves the session unchanged. */
export interface Summarizer {
  readonly name: string;
  /** True: it reads the entries, not only the structure; a long range is passed in parts. */
  readonly needsEntries?: boolean;
  /** Its input limit, in tokens. */
  readonly maxInputTokens?: number;
  summarize(request: SummaryRequest): Promise<SummaryAnswer>;
  /**
   * The reason to reject an answer; undefined if accepted. Empty and overlong answers are always
   * rejected.
   */
  check?(answer: SummaryAnswer, request: SummaryRequest): readonly string[];
}
