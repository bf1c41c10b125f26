/** Suggests the probably intended name. */

/** Undefined if no name is within a typing error, by edit distance. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const given = plainName(word);
  let best: string | undefined;
  // A single letter is close to every short name.
  const most = given.length < 2 ? 0 : Math.max(2, Math.floor(given.length / 3));
  let bestDistance = most + 1;
  for (const candidate of candidates) {
    const distance = distanceOf(given, plainName(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `; did you mean X?`, or an empty string. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const suggestion = nearest(word, candidates);
  return suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
}

/** `created_by`, `created-by` and `createdBy` are one name in three spellings. */
export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** Shorter names are prefixes of too many others. */
const SHORTEST_BEGINNING = 3;

/** A prefix counts as close, such as `ttl` of `ttlSeconds`. */
function distanceOf(given: string, candidate: string): number {
  if (given === candidate) return 0;
  if (candidate.startsWith(given)) return 1;
  const isBeginning = candidate.length >= SHORTEST_BEGINNING && given.startsWith(candidate);
  const distance = editDistance(given, candidate);
  return isBeginning ? Math.min(2, distance) : distance;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
