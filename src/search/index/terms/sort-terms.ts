/**
 * Sorts terms by code unit, the order of a dictionary.
 *
 * Comparing strings dominates such a sort. So numeric keys of the first letters are sorted
 * natively, and only terms with equal keys are compared.
 */

/** Letters in a key, of seven bits each: a key is below 2^53. */
const KEY_LETTERS = 7;
/** Stands for this letter and all above it: such terms are compared from there on. */
const LAST_LETTER = 127;

/** Less than 0 if the first term comes before the second. */
type Compare = (a: number, b: number) => number;

/** Monotonic in the term; equal for terms with an equal prefix. */
export function sortKey(letters: Uint16Array, length: number): number {
  let key = 0;
  let isOver = false;
  for (let i = 0; i < KEY_LETTERS; i++) {
    // A shorter term sorts before its extensions.
    const letter: number =
      isOver || i >= length ? 0 : Math.min((letters[i] as number) + 1, LAST_LETTER);
    isOver ||= letter === LAST_LETTER;
    key = key * 128 + letter;
  }
  return key;
}

/** The distinct terms from `from` to `to` in ascending order. `keys` are by term. */
export function sortTerms(
  from: number,
  to: number,
  keys: Float64Array,
  compare: Compare,
): Uint32Array<ArrayBuffer> {
  const sorted = keys.slice(from, to).sort();
  const order = new Uint32Array(to - from);
  /** By a key's first place: the number of its terms placed so far. */
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

/** Merges two ascending lists of terms. */
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
