/** The folded form of a title for filters, equal on both backends. */
export function foldTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}
