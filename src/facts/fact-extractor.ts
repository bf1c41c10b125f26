/** The port of fact extractors. A host may plug in its own. */

import type { Entry } from "../model/entry.ts";
import { MAX_FACT_BYTES } from "../model/limits.ts";
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

/** Undefined if `value` is not text or is too long for a statement. */
export function cleanStatement(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string" || value.length > MAX_FACT_BYTES) return undefined;
  const text = value.toWellFormed().replace(CONTROL_OR_SPACE, " ").trim();
  return text === "" || Buffer.byteLength(text) > MAX_FACT_BYTES ? undefined : text;
}

const CONTROL_OR_SPACE = /[\s\p{Cc}]+/gu;
