/** Request and answer of a search. */

import type { LineKind } from "../blame/lines/line-terms.ts";
import type { EXPLANATION, SEARCH_HIT, WINDOW_ITEM } from "../model/answers/context.ts";
import type { Role } from "../model/entry.ts";
import type { BranchScope, HIT_BRANCHES, SearchOrder } from "../model/inputs/choices.ts";
import type { StoredMark } from "../model/mark.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { NoteField } from "./index/layout.ts";
import type { SessionCondition } from "./port.ts";
import type { QueryMatch } from "./query/parse-query.ts";
import type { RankingProfile } from "./score/profile.ts";
import type { ScoreParts } from "./score/rank.ts";
import type { TextRun } from "./text/text-run.ts";
import type { PieceInfo, VectorIndex } from "./vectors/vector-port.ts";

/** Plain data, because it may cross a thread. Every number is already within its limits. */
export interface SearchRequest {
  readonly query: string;
  readonly match: QueryMatch;
  /** The reference time of `since:7d` and the like. */
  readonly now: number;
  /** The limit of hits. */
  readonly limit: number;
  /**
   * `messages`: for one session in scope; ranks the best messages of the first pass with their
   * neighbours, without reading the whole session; a hit's window is its message, up to 4 KB
   * verbatim. `sessions` (the default): ranks whole sessions.
   */
  readonly reach?: "sessions" | "messages";
  /** Marks of the messages that earlier pages showed: see `hits/shown-mark.ts`. */
  readonly seen?: readonly string[];
  /** `time`: the best hits, the newest message first. */
  readonly sort?: SearchOrder;
  /** Also counts the sessions that have most of the query. */
  readonly total?: boolean;
  /** The limit of hits per session. */
  readonly perSession: number;
  /** Messages to show before and after a hit. */
  readonly before: number;
  readonly after: number;
  /** Also shows the other half of a hit's exchange. */
  readonly exchange?: boolean;
  readonly scope: SessionCondition;
  readonly roles?: readonly Role[];
  readonly tools?: readonly string[];
  /** The first and last millisecond, inclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Only messages before this sequence of their session. */
  readonly beforeSequence?: number;
  /** `active`: only messages on the active path of their session. */
  readonly branches: BranchScope;
  /** Also machine-made sessions. */
  readonly machineMade?: boolean;
  /** The last word is being typed: it matches as a prefix. */
  readonly asYouType?: boolean;
  readonly profile: RankingProfile;
  /** The query's vector; absent: words alone. */
  readonly meaning?: MeaningQuery;
  readonly explain: boolean;
  /** The question asks for what holds now: of two statements the later one comes first. */
  readonly asksForNow?: boolean;
  /** Deadline in milliseconds; the answer then has the hits so far. */
  readonly deadlineMs: number;
  /** Set by the executing side: whether the caller has aborted. */
  readonly isAbandoned?: () => boolean;
}

/** The vector of a query and its embedder. */
export interface MeaningQuery {
  readonly embedder: string;
  /** The query's vector, of length 1. */
  readonly vector: Float32Array;
  /** Minimum cosine of a hit that shares no word with the query. */
  readonly floor: number;
}

/** The beginning of the note of a search that ranked without vectors. */
export const BY_WORDS_ONLY = "Searched by words only";

export interface SearchAnswer {
  /** The best first; marked ones last. */
  readonly hits: readonly FoundHit[];
  /** `seen` of the next page; absent: there are no more. */
  readonly next?: readonly string[];
  readonly total?: number;
  /** Notes for the user: ignored words, an invalid filter. */
  readonly notes: readonly string[];
  /** True: the index is being built, so older messages may be missing. */
  readonly indexing: boolean;
  /** True: part of the index is unreadable, and will be rebuilt. */
  readonly degraded: boolean;
  /** True: the deadline passed. */
  readonly partial: boolean;
  /** For the store's maintenance. */
  readonly unreadable: readonly number[];
  readonly lag: number;
  readonly explanation?: SearchExplanation;
}

export type HitBranch = (typeof HIT_BRANCHES)[number];

export interface SearchHit extends FieldsOf<typeof SEARCH_HIT> {
  readonly parts?: ScoreParts;
}

/** A hit as the index finds it: its mark names what replaced it by its id. */
export interface FoundHit extends Omit<SearchHit, "mark" | "changedFiles"> {
  readonly mark?: StoredMark;
}

export interface WindowItem extends FieldsOf<typeof WINDOW_ITEM> {}

/** A search over memories or facts. */
export interface NoteSearchRequest {
  readonly field: NoteField;
  readonly query: string;
  readonly now: number;
  readonly limit: number;
  /** Only keys with this prefix: one agent's memories. */
  readonly keyPrefix: string;
  /** Without keys of this prefix. */
  readonly excludedPrefix?: string;
  /** Only facts of these sessions. */
  readonly scope?: SessionCondition;
  readonly meaning?: MeaningQuery & { readonly weight: number };
}

export interface NoteSearchAnswer {
  /** The best first. */
  readonly notes: readonly { readonly key: string; readonly score: number }[];
  readonly indexing: boolean;
  readonly degraded: boolean;
  readonly unreadable: readonly number[];
}

export interface SearchExplanation extends FieldsOf<typeof EXPLANATION> {
  readonly terms: readonly {
    readonly term: string;
    readonly documents: number;
    readonly weight: number;
  }[];
}

/** Asks for the pieces to embed after position `after` of the feed. */
export interface PiecesRequest {
  readonly after: number;
  /** The end position. Default: the feed's end. */
  readonly to?: number;
  /** Ends with the slice that reaches this many. */
  readonly enough: number;
}

export interface TextPiece {
  readonly info: PieceInfo;
  readonly text: string;
}

export interface PiecesAnswer {
  readonly pieces: readonly TextPiece[];
  readonly through: number;
  readonly head: number;
  /** The store's vectors; absent if it has none. */
  readonly vectors?: VectorIndex;
  readonly unreadable: readonly number[];
}

/** Asks for the sessions that may have a text: see `text/find-sessions.ts`. */
export interface TextRequest {
  readonly run: TextRun;
  readonly scope: SessionCondition;
  /** The first and last millisecond, inclusive, of the messages. */
  readonly since?: number;
  readonly until?: number;
  /** `next` of the previous answer. */
  readonly after?: TextPlace;
}

/** A position of the feed, maybe within a segment; or, of all sessions, the next one's number. */
export type TextPlace =
  | { readonly position: number; readonly segment?: number; readonly document?: number }
  | { readonly session: number };

export interface TextSessions {
  /** Their ids; several answers may have the same. */
  readonly sessions: readonly string[];
  /** Absent: these were the last. */
  readonly next?: TextPlace;
  readonly unreadable: readonly number[];
}

/** Asks which messages changed lines: see `text/find-lines.ts`. */
export interface LinesRequest {
  readonly lines: readonly { readonly kind: LineKind; readonly text: string }[];
  readonly scope: SessionCondition;
  /** Messages of an earlier answer, to be named. */
  readonly places: readonly LinePlace[];
}

/** A message, by the store's own numbers. */
export interface LinePlace {
  readonly session: number;
  readonly sequence: number;
}

export interface FoundLines {
  /** Their ids; null for a session that was deleted meanwhile. */
  readonly sessions: readonly (string | null)[];
  /** `session` is an index into `sessions`. */
  readonly edits: readonly {
    readonly session: number;
    readonly place: LinePlace;
    readonly at: number;
  }[];
  /** For each line the indexes of its edits; none if it is trivial or too frequent. */
  readonly found: readonly (readonly number[])[];
  /** For each place the entry's id, and its index on its path; null if it is deleted. */
  readonly shown: readonly ({ readonly id: string; readonly index: number } | null)[];
  /** True: some messages are not indexed yet, or only by an older version. */
  readonly indexing: boolean;
  readonly unreadable: readonly number[];
}

/** A read of the index, and its answer. */
export type IndexRequest =
  | SearchRequest
  | NoteSearchRequest
  | PiecesRequest
  | TextRequest
  | LinesRequest;
export type IndexAnswer =
  | SearchAnswer
  | NoteSearchAnswer
  | PiecesAnswer
  | TextSessions
  | FoundLines;
