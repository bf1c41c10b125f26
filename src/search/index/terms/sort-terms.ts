/**
 * Terms in the order of a dictionary: by code unit.
 *
 * Comparing letters is what a sort of terms takes its time for. So numbers are sorted that stand for
 * the first letters of each term, which the runtime does without calling back, and only terms that
 * begin alike are compared.
 */

/** Letters that a key stands for, of seven bits each: a key is below 2^53. */
const KEY_LETTERS = 7;
/** Stands for this letter and all above it: terms that have it are compared from there on. */
const LAST_LETTER = 127;

/** Less than 0 if the first term comes before the second. */
type Compare = (a: number, b: number) => number;

/** Does not descend where terms ascend; alike for terms that begin alike. */
export function sortKey(letters: Uint16Array, length: number): number {
  let key = 0;
  let isOver = false;
  for (let i = 0; i < KEY_LETTERS; i++) {
    // A term that ends here comes before all that go on.
    const letter: number =
      isOver || i >= length ? 0 : Math.min((letters[i] as number) + 1, LAST_LETTER);
    isOver ||= letter === LAST_LETTER;
    key = key * 128 + letter;
  }
  return key;
}

/** The terms from `from` to `to` in ascending order, no two of which are alike. `keys` are by term. */
export function sortTerms(
  from: number,
  to: number,
  keys: Float64Array,
  compare: Compare,
): Uint32Array<ArrayBuffer> {
  const sorted = keys.slice(from, to).sort();
  const order = new Uint32Array(to - from);
  /** Where a key first stands: how many terms that have it were put there. */
  const alike = new Uint32Array(to - from);
  for (let id = from; id < to; id++) {
    const first = lowerBound(sorted, keys[id] as number);
    const before = alike[first] as number;
    order[first + before] = id;
    alike[first] = before + 1;
  }
  for (let i = 0; i < order.length; i += alike[i] as number) {
    if ((alike[i] as number) > 1) order.subarray(i, i + (alike[i] as number)).sort(compare);
  }
  return order;
}

/** Two lists of terms in ascending order as one. */
export function joinSorted(
  left: Uint32Array,
  right: Uint32Array,
  keys: Float64Array,
  compare: Compare,
): Uint32Array<ArrayBuffer> {
  const joined = new Uint32Array(left.length + right.length);
  let at = 0;
  for (let i = 0; i < right.length; i++) {
    const id = right[i] as number;
    const key = keys[id] as number;
    for (let j = at - i; j < left.length; j++) {
      const other = left[j] as number;
      const before = keys[other] as number;
      if (before > key || (before === key && compare(other, id) > 0)) break;
      joined[at++] = other;
    }
    joined[at++] = id;
  }
  joined.set(left.subarray(at - right.length), at);
  return joined;
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
