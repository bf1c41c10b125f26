/** The form of a title that a filter is compared with, the same on both backends. */
export function foldTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}
