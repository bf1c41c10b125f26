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

/** Keeps the order of a list of terms that grows at its end. No two of them are alike. */
export class TermOrder {
  /** By place in the list. */
  #keys = new Float64Array(1_024);
  #order = new Uint32Array(0);

  /** The places of all `terms`, in ascending order. What was sorted before is not sorted again. */
  sort(terms: readonly string[]): Uint32Array {
    const before = this.#order.length;
    if (terms.length === before) return this.#order;
    this.#addKeys(terms, before);
    const added = this.#sortFrom(terms, before);
    this.#order = before === 0 ? added : this.#merge(terms, this.#order, added);
    return this.#order;
  }

  #addKeys(terms: readonly string[], from: number): void {
    if (terms.length > this.#keys.length) {
      const larger = new Float64Array(2 * terms.length);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    for (let i = from; i < terms.length; i++) this.#keys[i] = keyOf(terms[i] as string);
  }

  #sortFrom(terms: readonly string[], from: number): Uint32Array<ArrayBuffer> {
    const keys = this.#keys.subarray(from, terms.length);
    const sorted = keys.slice().sort();
    const order = new Uint32Array(keys.length);
    /** Where a key first stands: how many terms that have it were put there. */
    const alike = new Uint32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const first = lowerBound(sorted, keys[i] as number);
      const before = alike[first] as number;
      order[first + before] = from + i;
      alike[first] = before + 1;
    }
    for (let i = 0; i < order.length; i += alike[i] as number) {
      const count = alike[i] as number;
      if (count > 1) order.subarray(i, i + count).sort((a, b) => this.#compare(terms, a, b));
    }
    return order;
  }

  #merge(terms: readonly string[], a: Uint32Array, b: Uint32Array): Uint32Array<ArrayBuffer> {
    const merged = new Uint32Array(a.length + b.length);
    let [i, j] = [0, 0];
    for (let at = 0; at < merged.length; at++) {
      const left = a[i];
      const right = b[j];
      const isLeft =
        right === undefined || (left !== undefined && this.#compare(terms, left, right) < 0);
      merged[at] = (isLeft ? left : right) as number;
      if (isLeft) i++;
      else j++;
    }
    return merged;
  }

  #compare(terms: readonly string[], a: number, b: number): number {
    const difference = (this.#keys[a] as number) - (this.#keys[b] as number);
    if (difference !== 0) return difference;
    return (terms[a] as string) < (terms[b] as string) ? -1 : 1;
  }
}

/** Does not descend where terms ascend; alike for terms that begin alike. */
function keyOf(term: string): number {
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
