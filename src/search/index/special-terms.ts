/**
 * Special terms, which no text can contain: they describe a message.
 *
 * They count neither for its length nor its words, so a ranking may use or ignore them.
 */

/** A word of the name of a message's actor; `term` is the analysed form. */
export function actorTerm(term: string): string {
  return `@${term}`;
}

/** Marks a machine-made session. */
export const MACHINE_MADE = "is:machine-made";

/** Marks a message that is not wholly indexed: words may be missing here that its text has. */
export const IS_CUT = "~:cut";

/** A word of injected text that is indexed for traces alone; `term` is the analysed form. */
export function hiddenTerm(term: string): string {
  return `~${term}`;
}

/** The tool that a message calls, or whose result it has. */
export function toolTerm(name: string): string {
  return `tool:${name.normalize("NFKC").toLowerCase()}`;
}
