/** Turns proposals into storable facts: checks, redacts and cites them, in transcript order. */

import type { Entry } from "../model/entry.ts";
import { cleanStatement, type ProposedFact } from "./fact-extractor.ts";
import { type FactRedaction, redactFact } from "./redact-fact.ts";

export interface PreparedFact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly confidence: number;
  /** Null: no citation. */
  readonly sourceEntry: string | null;
  readonly many: boolean;
}

/** A host's filter: gives the fact to store, or null to drop it. */
export type FactHook = (
  fact: ProposedFact,
) => ProposedFact | null | undefined | Promise<ProposedFact | null | undefined>;

export interface PrepareOptions {
  readonly redaction: FactRedaction;
  readonly hook?: FactHook | undefined;
}

/** For proposals without a confidence. */
export const DEFAULT_CONFIDENCE = 0.7;
/** The maximum confidence of an uncited fact, which may be invented. */
const UNCITED_CONFIDENCE = 0.5;

export interface Preparation {
  readonly facts: readonly PreparedFact[];
  /** Withheld: secret, personal, refused by the host, or not a statement. */
  readonly withheld: number;
}

export async function prepareFacts(
  proposed: readonly ProposedFact[],
  entries: readonly Entry[],
  { redaction, hook }: PrepareOptions,
): Promise<Preparation> {
  const places = new Map(entries.map(({ id }, i) => [id, i]));
  const facts: PreparedFact[] = [];
  for (const fact of proposed) {
    const cleaned = clean(fact);
    const redacted = cleaned === undefined ? null : redactFact(cleaned, redaction);
    const allowed = redacted === null || hook === undefined ? redacted : await hook(redacted);
    // The hook is foreign code, so its result is checked again.
    const kept = allowed === null || allowed === undefined ? undefined : clean(allowed);
    if (kept !== undefined) facts.push(prepare(kept, places));
  }
  const placeOf = ({ sourceEntry }: PreparedFact) =>
    places.get(sourceEntry ?? "") ?? entries.length;
  // The later statement of the transcript wins, in any order of the answer.
  return {
    facts: facts.toSorted((a, b) => placeOf(a) - placeOf(b)),
    withheld: proposed.length - facts.length,
  };
}

function clean(fact: ProposedFact): ProposedFact | undefined {
  const subject = cleanStatement(fact?.subject);
  const predicate = cleanStatement(fact?.predicate);
  const object = cleanStatement(fact?.object);
  if (subject === undefined || predicate === undefined || object === undefined) return undefined;
  return { ...fact, subject, predicate, object };
}

function prepare(fact: ProposedFact, places: ReadonlyMap<string, number>): PreparedFact {
  const { subject, predicate, object, entryId, many } = fact;
  const confidence = toShare(fact.confidence);
  const isCited = typeof entryId === "string" && places.has(entryId);
  return {
    subject,
    predicate,
    object,
    confidence: isCited ? confidence : Math.min(confidence, UNCITED_CONFIDENCE),
    sourceEntry: isCited ? entryId : null,
    many: many === true,
  };
}

function toShare(confidence: unknown): number {
  if (typeof confidence !== "number" || !Number.isFinite(confidence)) return DEFAULT_CONFIDENCE;
  return Math.min(1, Math.max(0, confidence));
}
