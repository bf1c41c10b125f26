/** The names in the text of edits: identifiers that are rare enough to be meant. */

import type { Call } from "../../recap/read-acts.ts";

/** A name of several words: `addCheckpointTrailer`, `has_trailer`, `DefaultAgentType`. */
const IDENTIFIER =
  /\b(?:[a-z]+[A-Z][A-Za-z0-9]{2,60}|[A-Z][a-z]+[A-Z][A-Za-z0-9]{2,60}|[a-z]+_[a-z_0-9]{3,60})\b/g;
const NOT_MEANT = new Set(["file_path", "old_string", "new_string", "replace_all"]);
const MAX_NAMES = 400;

export function inputTextFields(edits: readonly Call[]): ReadonlySet<string> {
  return namesIn(edits.map(({ input }) => input));
}

export function namesIn(texts: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of texts) {
    for (const [name] of text.matchAll(IDENTIFIER)) {
      if (!NOT_MEANT.has(name)) names.add(name);
      if (names.size >= MAX_NAMES) return names;
    }
  }
  return names;
}
