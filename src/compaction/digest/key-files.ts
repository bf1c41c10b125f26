/**
 * Files mentioned in a conversation, by claw-code's rule: words with a slash and one of six
 * extensions. The list is sorted and then cut, so it does not rank them.
 */

const EXTENSIONS = new Set(["rs", "ts", "tsx", "js", "json", "md"]);

/** Punctuation around a path in prose. */
const TRIMMED = ",.:;)(\"'`";

/** Longer words are data, not paths. */
const MAX_PATH_LENGTH = 512;

/** Calls `found` with each path in `text`. */
export function findFiles(text: string, found: (path: string) => void): void {
  if (!text.includes("/")) return;
  for (const [word] of text.matchAll(/\S+/g)) {
    if (!word.includes("/") || word.length > MAX_PATH_LENGTH) continue;
    const path = trim(word);
    if (path.includes("/") && hasKnownExtension(path)) found(path.toWellFormed());
  }
}

/** Inserts `value` into a sorted list of distinct values, cut to `max`. */
export function addSorted(list: string[], value: string, max: number): void {
  let i = list.length;
  while (i > 0 && (list[i - 1] as string) >= value) i--;
  if (list[i] === value || i >= max) return;
  list.splice(i, 0, value);
  if (list.length > max) list.pop();
}

function trim(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && TRIMMED.includes(word[start] as string)) start++;
  while (end > start && TRIMMED.includes(word[end - 1] as string)) end--;
  return word.slice(start, end);
}

function hasKnownExtension(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 && EXTENSIONS.has(name.slice(dot + 1).toLowerCase());
}
