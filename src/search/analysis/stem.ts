/**
 * A light English stemmer, like Porter's: by suffix and by the number of syllables before it, in
 * two steps. Inflection (plurals, -ed, -ing), then the commonest derivations, so that `migrate`,
 * `migrated`, `migrating` and `migration` share a term. The result need not be a word. Only `a` to
 * `z` is stemmed.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return withoutEnd(derivation(finalY(pastOrProgressive(plural(word)))));
}

function plural(word: string): string {
  if (!word.endsWith("s") || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:sses|xes|ches|shes|zzes)$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function pastOrProgressive(word: string): string {
  if (word.endsWith("ied")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = word.endsWith("ing") ? 3 : word.endsWith("ed") ? 2 : 0;
  const base = word.slice(0, word.length - suffix);
  if (suffix === 0 || base.length < 2 || !hasVowel(base)) return word;
  // `hopping` loses a letter, `hoping` and `creating` get theirs back.
  if (base.length > 3 && /([bdfgmnprt])\1$/.test(base)) return base.slice(0, -1);
  if (/(?:at|bl|iz)$/.test(base) || isShort(base)) return `${base}e`;
  return base;
}

/** `happy` and `happiness`, `try` and `tried` share the `i`. */
function finalY(word: string): string {
  return word.length > 3 && word.endsWith("y") && /[^aeiou]y$/.test(word)
    ? `${word.slice(0, -1)}i`
    : word;
}

/**
 * Suffix, replacement, and the minimum length of the stem; longer suffixes first. A final `y` is an
 * `i` by now. `session`, `mission` and `apply` are not derivations.
 */
const DERIVATIONS: readonly (readonly [suffix: string, replacement: string, letters: number])[] = [
  ["ization", "ize", 3],
  ["isation", "ize", 3],
  ["ational", "ate", 3],
  ["fulness", "ful", 3],
  ["iveness", "ive", 3],
  ["ousness", "ous", 3],
  ["tional", "tion", 3],
  ["biliti", "ble", 3],
  ["ation", "ate", 3],
  ["ition", "it", 3],
  ["iviti", "ive", 3],
  ["ness", "", 3],
  ["tion", "t", 3],
  ["sion", "s", 5],
  ["li", "", 4],
];

/** The last letters of all of them. */
const DERIVATION_ENDS = "nlsi";

function derivation(word: string): string {
  const mayBe = DERIVATION_ENDS.includes(word.at(-1) ?? "");
  const found = mayBe ? DERIVATIONS.find(([suffix]) => word.endsWith(suffix)) : undefined;
  if (found === undefined) return withoutAte(word);
  const [suffix, replacement, letters] = found;
  const base = word.slice(0, word.length - suffix.length);
  return base.length >= letters && hasVowel(base) ? withoutAte(base + replacement) : word;
}

/** `configuration` and `configure` share a term; `migrate` stays. */
function withoutAte(word: string): string {
  const base = word.endsWith("ate") ? word.slice(0, -3) : "";
  return measure(base) > 1 ? base : word;
}

/** A final `e`, or the second `l` of `controlled`, which inflection may have removed or left. */
function withoutEnd(word: string): string {
  const base = word.slice(0, -1);
  if (word.endsWith("ll")) return measure(word) > 1 ? base : word;
  if (!word.endsWith("e") || word.length < 4) return word;
  return measure(base) > 1 || !isShort(base) ? base : word;
}

/**
 * Porter's measure *m*, the number of vowel-consonant sequences: 0 in `tree`, 1 in `trouble`, 2 in
 * `private`.
 */
function measure(word: string): number {
  let count = 0;
  let vowel = false;
  for (let i = 0; i < word.length; i++) {
    const now = isVowel(word, i);
    if (vowel && !now) count++;
    vowel = now;
  }
  return count;
}

/**
 * Porter's condition *o*: a syllable of consonant, vowel, consonant that lost an `e`, as in
 * `hop(e)`.
 */
function isShort(word: string): boolean {
  const last = word.length - 1;
  return (
    last >= 1 &&
    measure(word) === 1 &&
    !isVowel(word, last) &&
    !/[wxy]$/.test(word) &&
    isVowel(word, last - 1) &&
    (last === 1 || !isVowel(word, last - 2))
  );
}

function hasVowel(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (isVowel(word, i)) return true;
  return false;
}

function isVowel(word: string, i: number): boolean {
  const letter = word[i];
  if (letter === "y") return i > 0 && !isVowel(word, i - 1);
  return letter === "a" || letter === "e" || letter === "i" || letter === "o" || letter === "u";
}
