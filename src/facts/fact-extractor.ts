/** The port of fact extractors. A host may plug in its own. */

import type { Entry } from "../model/entry.ts";
import type { Fact } from "../model/note.ts";

/** A proposed statement, to be redacted and reconciled before it is stored. */
export interface ProposedFact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** From 0 to 1. Default 0.7. */
  readonly confidence?: number;
  /** The id of its source entry. */
  readonly entryId?: string | null;
  /** True: the subject may have several objects of this predicate, and none supersedes another. */
  readonly many?: boolean;
}

export interface FactRequest {
  /** The messages to read, in order. */
  readonly entries: readonly Entry[];
  /** The session's current facts, newest last; proposals may supersede them. */
  readonly known: readonly Pick<Fact, "subject" | "predicate" | "object">[];
  /** Requests no personal data; redaction removes proposed ones anyway. */
  readonly omitPersonal: boolean;
  readonly signal?: AbortSignal;
}

export interface FactAnswer {
  readonly facts: readonly ProposedFact[];
  /** The number of malformed statements. */
  readonly unread: number;
}

/** An exception fails the extraction; facts stored from earlier messages stay. */
export interface FactExtractor {
  readonly name: string;
  /** Its input limit, in tokens. */
  readonly maxInputTokens?: number;
  extract(request: FactRequest): Promise<FactAnswer>;
}
