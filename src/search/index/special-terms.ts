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

/** The tool that a message calls, or whose result it has. */
export function toolTerm(name: string): string {
  return `tool:${name.normalize("NFKC").toLowerCase()}`;
}
