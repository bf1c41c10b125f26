/**
 * Runs: messages that have all words of the query one after another, as those that a line was copied
 * from.
 *
 * The first pass weighs words by their rarity and may miss a line of common words, so runs are found
 * by positions instead (as with a phrase query).
 */

import { MESSAGE_FIELDS, type MessageField } from "../index/layout.ts";
import type { SansIo } from "../port.ts";
import type { Paths } from "./active-paths.ts";
import { type CandidateSearch, passUntilPathsAreKnown } from "./first-pass.ts";
import type { MessagePass } from "./message-pass.ts";

/** A message with the run. */
export interface Run {
  readonly session: number;
  readonly view: number;
  readonly document: number;
  readonly field: MessageField;
}

/** The limit of messages per field: the best by their words. */
const MAX_MESSAGES = 256;
/**
 * Some word of the run must be in at most this many messages. Reading the positions of more would
 * take longer than the search.
 */
const MAX_DOCUMENTS = 65_536;

export interface FoundRuns {
  /** By session: texts before outputs, which may be their echoes, and each by its words. */
  readonly runs: ReadonlyMap<number, readonly Run[]>;
  readonly partial: boolean;
}

/** Excluded words do not count here: the sign of one may be an option's in a copied command. */
export function* findRuns(
  search: CandidateSearch,
  pass: Omit<MessagePass, "maxBoost">,
  paths: Paths,
): SansIo<FoundRuns> {
  const { verbatim } = search.query;
  const found: Run[] = [];
  let isCut = false;
  for (const field of search.request.profile.verbatim === 0 ? [] : MESSAGE_FIELDS) {
    if (!isSelective(verbatim, field, pass)) continue;
    const phrase = { kind: "phrase", terms: verbatim, field } as const;
    const required = [...pass.filter.required, [phrase]];
    const filter = { ...pass.filter, required, excluded: [] };
    const own = { ...pass, filter, boosts: NO_BOOSTS, isByMessage: true };
    const { top, partial } = yield* passUntilPathsAreKnown(search, own, paths, MAX_MESSAGES);
    isCut ||= partial;
    for (const { session, view, document } of top.list()) {
      found.push({ session, view, document, field });
    }
  }
  return { runs: Map.groupBy(found, ({ session }) => session), partial: isCut };
}

const NO_BOOSTS: ReadonlyMap<number, number> = new Map();

function isSelective(
  words: readonly (string | null)[],
  field: MessageField,
  { terms, outputs }: Pick<MessagePass, "terms" | "outputs">,
): boolean {
  const own = field === "message" ? terms : outputs;
  return own.some(
    ({ term, documents }) => documents <= MAX_DOCUMENTS && words.includes(term.label),
  );
}
