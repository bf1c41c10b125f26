/** A parsed query, and its terms and conditions. */

import type { Role } from "../../model/entry.ts";
import type { MessageField } from "../index/layout.ts";
import type { SessionCondition } from "../port.ts";

export type Leaf =
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "phrase"; readonly text: string }
  | { readonly kind: "prefix"; readonly text: string };

/** Several values of one filter are alternatives; filters are joined by AND. */
export interface QueryFilters extends SessionCondition {
  readonly role?: readonly Role[];
  readonly tool?: readonly string[];
  /** First and last millisecond, both inclusive. */
  readonly since?: number;
  readonly until?: number;
}

export interface ParsedQuery {
  /** Required (MUST) groups: each needs at least one match. */
  readonly required: readonly (readonly Leaf[])[];
  /** Optional (SHOULD) clauses: more matches rank higher. */
  readonly optional: readonly Leaf[];
  readonly excluded: readonly Leaf[];
  readonly filters: QueryFilters;
  /** The query as typed, signs and operators included, without its filters. */
  readonly typed: string;
  /** Notes for the user, such as an invalid filter. */
  readonly notes: readonly string[];
}

export interface ScoredTerm {
  readonly term: string;
  /** From near 0, for a stop word beside other words, to 1. */
  readonly weight: number;
  /** A word, or a part of an identifier; not a whole identifier, nor another form of a word. */
  readonly isPiece: boolean;
  /** The identifier's term, if this is a part of one. */
  readonly whole?: string;
}

export type Condition =
  /** All of them, anywhere in the document. */
  | { readonly kind: "terms"; readonly terms: readonly string[] }
  /**
   * At successive positions; null is any word. Never begins or ends with null. `field`: only there;
   * absent: in the text or in the outputs.
   */
  | {
      readonly kind: "phrase";
      readonly terms: readonly (string | null)[];
      readonly field?: MessageField;
    }
  /** A term with this prefix. */
  | { readonly kind: "prefix"; readonly prefix: string };

export interface TermQuery {
  /** Distinct, in query order. Uncut: the caller knows which are common. */
  readonly scored: readonly ScoredTerm[];
  /** The forms of each plain content word: the term, and the written word. */
  readonly words: readonly (readonly string[])[];
  /** Also scored, once the dictionary has expanded them. */
  readonly prefixes: readonly string[];
  /** The query as typed, as one text: a message may have it literally. */
  readonly typed: string;
  /**
   * All words of `typed` as a phrase, operators included: `or` is a word of "no such file or
   * directory". Null is any word. Empty for a single word or name, and for a long text.
   */
  readonly verbatim: readonly (string | null)[];
  /** A document must meet at least one condition of each group. */
  readonly required: readonly (readonly Condition[])[];
  /** A document that meets one of these is excluded. */
  readonly excluded: readonly Condition[];
  readonly filters: QueryFilters;
  readonly notes: readonly string[];
}
