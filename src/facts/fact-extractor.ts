/** The port of fact extractors. A host may plug in its own. */

import type { Entry } from "../model/entry.ts";
import type { Fact } from "../model/note.ts";

/** A proposed statement, to be redacted and reconciled before it is stored. */
export interface ProposedFact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** From 0 to 1; 0.7 if left out. */
  readonly confidence?: number;
  /** The id of the entry that says so. */
  readonly entryId?: string | null;
  /** The subject can have several objects of this predicate: none replaces another. */
  readonly many?: boolean;
}

export interface FactRequest {
  /** The messages to read, in order. */
  readonly entries: readonly Entry[];
  /** Current facts of the session, the newest last; proposals may replace them. */
  readonly known: readonly Pick<Fact, "subject" | "predicate" | "object">[];
  /** Asks for no personal data; redaction removes what is proposed all the same. */
  readonly omitPersonal: boolean;
  readonly signal?: AbortSignal;
}

export interface FactAnswer {
  readonly facts: readonly ProposedFact[];
  /** Statements of the answer that could not be understood. */
  readonly unread: number;
}

/** An exception fails the extraction; facts stored from earlier messages stay. */
export interface FactExtractor {
  readonly name: string;
  /** Its input limit, in tokens. */
  readonly maxInputTokens?: number;
  extract(request: FactRequest): Promise<FactAnswer>;
}
