/** Request and answer of a search. */

import type { Role } from "../model/entry.ts";
import type { BranchScope, HIT_BRANCHES } from "../model/inputs/choices.ts";
import type { NoteField } from "./index/layout.ts";
import type { SessionCondition } from "./port.ts";
import type { QueryMatch } from "./query/parse-query.ts";
import type { RankingProfile } from "./score/profile.ts";
import type { ScoreParts } from "./score/rank.ts";
import type { PieceInfo, VectorIndex } from "./vectors/vector-port.ts";

/** Plain data: it may cross to another thread. Every number is within its limits already. */
export interface SearchRequest {
  readonly query: string;
  readonly match: QueryMatch;
  /** For `since:7d` and the like. */
  readonly now: number;
  /** Hits at most. */
  readonly limit: number;
  /**
   * `messages`: of the one session in scope, the best messages of the first pass are ranked with
   * their neighbours, and no more of it is read; the window of a hit is its message, up to 4 KB as it
   * was said. `sessions` (the default): whole sessions are ranked.
   */
  readonly reach?: "sessions" | "messages";
  /** Hits of one session at most. */
  readonly perSession: number;
  /** Messages to show before and after a hit. */
  readonly before: number;
  readonly after: number;
  readonly scope: SessionCondition;
  readonly roles?: readonly Role[];
  readonly tools?: readonly string[];
  /** The first and the last millisecond that count. */
  readonly since?: number;
  readonly until?: number;
  /** Only messages that came before this one in their session, by its sequence. */
  readonly beforeSequence?: number;
  /** `active`: only messages on the active path of their session. */
  readonly branches: BranchScope;
  /** Also machine-made sessions. */
  readonly machineMade?: boolean;
  /** The last word is being typed: it is the beginning of one. */
  readonly asYouType?: boolean;
  readonly profile: RankingProfile;
  /** The query as a vector; absent: words alone. */
  readonly meaning?: MeaningQuery;
  readonly explain: boolean;
  /** Deadline in milliseconds; the answer then has the hits so far. */
  readonly deadlineMs: number;
  /** Set by the executing side: whether the caller has given up. */
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
  /** The best first. */
  readonly hits: readonly SearchHit[];
  /** Notes for the user: words that were left out, a filter that was not understood. */
  readonly notes: readonly string[];
  /** Older messages may be missing: the index is being built. */
  readonly indexing: boolean;
  /** Part of the index cannot be read; it will be built again. */
  readonly degraded: boolean;
  /** Time ran out. */
  readonly partial: boolean;
  /** For the store's upkeep. */
  readonly unreadable: readonly number[];
  readonly lag: number;
  readonly explanation?: SearchExplanation;
}

export type HitBranch = (typeof HIT_BRANCHES)[number];

export interface SearchHit {
  readonly sessionId: string;
  readonly shortId: string;
  /** Fields of the session; the title is cut to 256 bytes. */
  readonly meta: {
    readonly title: string;
    readonly agent: string;
    readonly createdAt: number;
    readonly updatedAt: number;
    readonly messageCount: number;
    /** Files of the session that came late: what they say is on branches. */
    readonly lateBranches: number;
  };
  /** The message that was found; null if only the session's title or summary was. */
  readonly entryId: string | null;
  /** Its index on the path to `leaf`: `listMessages` takes it as `offset`. */
  readonly index: number | null;
  readonly leaf: string | null;
  /**
   * Null on the active path. `late`: on the branch of a file that was read after later ones. `left`: on
   * any other branch, such as what stood before an edit.
   */
  readonly branch: HitBranch | null;
  readonly score: number;
  /**
   * The cosine of the query with the nearest piece of the session, or of the message where messages of
   * one session are compared; 0 without a vector. Absent: the search was by words only.
   */
  readonly similarity?: number;
  /** At most 16 messages. The one that was found is always among them. */
  readonly window: readonly WindowItem[];
  readonly parts?: ScoreParts;
}

export interface WindowItem {
  readonly entryId: string;
  readonly index: number;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly createdAt: number;
  /**
   * At most 1,024 bytes of UTF-8, round the match if there is one; secrets are masked. With the reach
   * `messages`, which only the assembly of contexts uses: at most 4,096 bytes as they were said.
   */
  readonly snippet: string;
  readonly truncated: boolean;
  readonly toolName: string | null;
  /** Ranges of the query's words in `snippet`, in UTF-16 units; only for the hit itself. */
  readonly matches: readonly { readonly start: number; readonly end: number }[];
  /** Whether this is the message that was found. */
  readonly found: boolean;
}

/** A search over memories or facts. */
export interface NoteSearchRequest {
  readonly field: NoteField;
  readonly query: string;
  readonly now: number;
  readonly limit: number;
  /** Only keys that begin so: the memories of one agent. */
  readonly keyPrefix: string;
  /** And none that begin so. */
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

export interface SearchExplanation {
  readonly terms: readonly {
    readonly term: string;
    readonly documents: number;
    readonly weight: number;
  }[];
  readonly documents: number;
  readonly averageLength: number;
  readonly segments: number;
  readonly candidates: number;
}

/** Asks for the pieces to embed after position `after` of the feed. */
export interface PiecesRequest {
  readonly after: number;
  /** Up to here; to the feed's end if left out. */
  readonly to?: number;
  /** It ends with the slice in which there are so many. */
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

/** A read of the index, and its answer. */
export type IndexRequest = SearchRequest | NoteSearchRequest | PiecesRequest;
export type IndexAnswer = SearchAnswer | NoteSearchAnswer | PiecesAnswer;
