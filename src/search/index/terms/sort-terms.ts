/**
 * Terms in the order of a dictionary: by code unit.
 *
 * Comparing strings is what a sort of strings takes its time for. So numbers are sorted that stand
 * for the first letters of each term, which the runtime does without calling back, and only terms
 * that begin alike are compared as strings.
 */

/** Letters that a key stands for, of seven bits each: a key is below 2^53. */
const KEY_LETTERS = 7;
/** Stands for this letter and all above it: terms that have it are compared from there on. */
const LAST_LETTER = 127;

/** Does not descend where terms ascend; alike for terms that begin alike. */
export function sortKey(term: string): number {
  let key = 0;
  let isOver = false;
  for (let i = 0; i < KEY_LETTERS; i++) {
    // A term that ends here comes before all that go on.
    const letter: number =
      isOver || i >= term.length ? 0 : Math.min(term.charCodeAt(i) + 1, LAST_LETTER);
    isOver ||= letter === LAST_LETTER;
    key = key * 128 + letter;
  }
  return key;
}

/** Those of `ids` in ascending order of their terms, no two of which are alike. */
export function sortTerms(
  ids: readonly number[],
  terms: readonly string[],
  keys: Float64Array,
): Uint32Array {
  const sorted = new Float64Array(ids.length);
  for (let i = 0; i < ids.length; i++) sorted[i] = keys[ids[i] as number] as number;
  sorted.sort();
  const order = new Uint32Array(ids.length);
  /** Where a key first stands: how many terms that have it were put there. */
  const alike = new Uint32Array(ids.length);
  for (const id of ids) {
    const first = lowerBound(sorted, keys[id] as number);
    const before = alike[first] as number;
    order[first + before] = id;
    alike[first] = before + 1;
  }
  for (let i = 0; i < order.length; i += alike[i] as number) {
    if ((alike[i] as number) > 1) sortAlike(order.subarray(i, i + (alike[i] as number)), terms);
  }
  return order;
}

function sortAlike(ids: Uint32Array, terms: readonly string[]): void {
  ids.sort((a, b) => ((terms[a] as string) < (terms[b] as string) ? -1 : 1));
}

function lowerBound(sorted: Float64Array, key: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
