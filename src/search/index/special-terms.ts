/**
 * Terms that no text can contain: they say something about a message.
 *
 * They take no room in it: neither its length nor its words change. So a ranking may use them or not.
 */

/** A word of the name of a message's actor; `term` is the analysed form. */
export function actorTerm(term: string): string {
  return `@${term}`;
}

/** Marks a machine-made session. */
export const MACHINE_MADE = "is:machine-made";

/** Which tool a message calls, or has the result of. */
export function toolTerm(name: string): string {
  return `tool:${name.normalize("NFKC").toLowerCase()}`;
}
