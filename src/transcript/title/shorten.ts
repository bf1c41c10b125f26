/** Fits a title: one line, cut between words. */

/** A title takes about a line of a terminal, in UTF-16 units. */
export const MAX_TITLE_LENGTH = 80;

/** Text on one line, without characters that a text column refuses. */
export function toOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

/** At most `MAX_TITLE_LENGTH`: the first sentence if it is a title, else cut between words. */
export function shortenTitle(line: string): string {
  const title = toOneLine(line);
  if (title.length <= MAX_TITLE_LENGTH) return title;
  const sentence = /^.{40,79}?[.!?](?=\s+\p{Lu})/u.exec(title)?.[0];
  if (sentence !== undefined) return sentence;
  const cut = title.slice(0, MAX_TITLE_LENGTH - 1);
  const space = cut.lastIndexOf(" ");
  const kept = space > MAX_TITLE_LENGTH / 2 ? cut.slice(0, space) : cut;
  // The cut may have split a surrogate pair.
  return `${kept.replace(/[\uD800-\uDBFF]$/, "").replace(/(?<![\s,;:([{–—-])[\s,;:([{–—-]+$/u, "")}…`;
}
