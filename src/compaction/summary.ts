/**
 * The structure of a summary, and the port of summarizers.
 *
 * The structure is stored beside the text. A later summary is made from the structure of the one
 * before and from new entries, never from its prose: text that is merged again and again compounds.
 */

import type { Entry } from "../model/entry.ts";
import { isPlainObject } from "../model/json.ts";

/** A line of a summary, with the entry that it can be checked against. */
export interface CitedText {
  readonly text: string;
  readonly entryId: string;
}

export interface TimelineLine extends CitedText {
  readonly role: string;
}

/** Older lines of a timeline, folded: how many of whom, and between which entries. */
export interface TimelineFold {
  readonly from: string;
  readonly through: string;
  readonly messages: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

export interface LedgerCommand extends CitedText {
  /** How it ended, if the result says so. */
  readonly failed?: boolean;
}

export interface LedgerFile {
  readonly path: string;
  /** The newest entry that touched it. */
  readonly entryId: string;
  readonly times: number;
}

/** Commands and files, verbatim: the part of a conversation that prose summaries lose first. */
export interface Ledger {
  readonly commands: readonly LedgerCommand[];
  /** Commands that are older than the ones listed. */
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
  /** Sorted, each once. */
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

/** Whether a stored value is a structure that this version can go on from. */
export function isStructure(value: unknown): value is SummaryStructure {
  return isPlainObject(value) && value["version"] === 1 && isPlainObject(value["ledger"]);
}

export interface SummaryRequest {
  /** What earlier entries were summarised to. A summary that leaves it out loses them. */
  readonly previous: { readonly text: string; readonly structure: SummaryStructure | null } | null;
  /** The entries to cover, in order, with their content. */
  readonly entries: readonly Entry[];
  /** The structure of `previous` and `entries` together. */
  readonly structure: SummaryStructure;
  /** `entries` end inside a turn. */
  readonly splitTurn: boolean;
  /** The caller's instructions. Only a model can follow them. */
  readonly instructions?: string;
  /** About what the text may take, in tokens. */
  readonly maxTokens?: number;
  readonly signal?: AbortSignal;
}

export interface SummaryAnswer {
  readonly text: string;
  /** The model that wrote it; null if none did. */
  readonly model: string | null;
  /** Why the writer stopped, in the AI SDK's words; `stop` is the only good one. */
  readonly finishReason: string;
}

/** Writes summaries. An exception fails the compaction and leaves the session unchanged. */
export interface Summarizer {
  readonly name: string;
  /** It reads the entries, not only the structure: a long range is handed over in parts. */
  readonly needsEntries?: boolean;
  /** Its input limit, in tokens. */
  readonly maxInputTokens?: number;
  summarize(request: SummaryRequest): Promise<SummaryAnswer>;
  /**
   * Why an answer is rejected; undefined if it is accepted. Empty and overlong answers are always
   * rejected.
   */
  check?(answer: SummaryAnswer, request: SummaryRequest): readonly string[];
}
