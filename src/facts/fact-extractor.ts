/** The port of whoever takes facts from a conversation. A host may plug in its own. */

import type { Entry } from "../model/entry.ts";
import type { Fact } from "../model/note.ts";

/** A statement as it was proposed: nothing of it is stored before it is redacted and reconciled. */
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
  /** Facts of the session that hold, the newest last: what is said of them again may replace them. */
  readonly known: readonly Pick<Fact, "subject" | "predicate" | "object">[];
  /** Personal data is not wanted. What is proposed nevertheless is taken out afterwards. */
  readonly omitPersonal: boolean;
  readonly signal?: AbortSignal;
}

export interface FactAnswer {
  readonly facts: readonly ProposedFact[];
  /** Statements of the answer that could not be understood. */
  readonly unread: number;
}

/** What it throws fails the extraction; what was stored of earlier messages stays. */
export interface FactExtractor {
  readonly name: string;
  /** What it can take at once, in tokens. */
  readonly maxInputTokens?: number;
  extract(request: FactRequest): Promise<FactAnswer>;
}
