/**
 * Where secrets may be. Most text has none, and a look at its characters costs much less than the
 * patterns of secrets: those read only the places that are found here.
 *
 * Places are starts and ends in turn.
 */

/** No known key is shorter. */
const LEAST_KEY = 18;

/** The low five bits of a character's class tell hints apart; both cases of a letter are equal. */
const SYMBOL = 31;
const IN_KEY = 32;
/** Of every UTF-16 code unit, so that the loops need no bounds. */
const CLASS = new Uint8Array(2 ** 16);
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (/[A-Za-z]/.test(char)) CLASS[code] = (code & SYMBOL) | IN_KEY;
  else if (/[\w.~+]/.test(char)) CLASS[code] = IN_KEY;
  else if (/\s/.test(char)) CLASS[code] = 27;
}
for (const [at, char] of [..."-:/="].entries()) CLASS[char.charCodeAt(0)] = (28 + at) | IN_KEY;
// Shares the last symbol: five bits keep the table small enough for the fastest cache.
CLASS["$".charCodeAt(0)] = 31;

/**
 * Runs of characters that may contain a known key, each with the character before it: the backslash
 * of `\n`. Every run holds a character at a multiple of its least length: the others are not read.
 */
export function keyRuns(text: string): readonly number[] {
  const runs: number[] = [];
  for (let i = LEAST_KEY - 1; i < text.length; i += LEAST_KEY) {
    if (!isInKey(text, i)) continue;
    let start = i;
    while (start > 0 && isInKey(text, start - 1)) start--;
    while (i < text.length && isInKey(text, i)) i++;
    if (i - start >= LEAST_KEY) runs.push(Math.max(0, start - 1), i);
  }
  return runs;
}

function isInKey(text: string, at: number): boolean {
  return ((CLASS[text.charCodeAt(at)] as number) & IN_KEY) !== 0;
}

export interface Hint {
  /** Three characters or more. */
  readonly text: string;
  readonly pattern: string;
}

/**
 * Finds lines with hints. A table knows their first three characters; only where those stand is a
 * pattern tried, of the hints that begin so.
 */
export function lineFinder(hints: readonly Hint[]): (text: string) => readonly number[] {
  const byStart = new Map<number, Set<string>>();
  for (const { text, pattern } of hints) {
    let symbols = 0;
    for (let i = 0; i < 3; i++) symbols = (symbols << 5) | symbolAt(text, i);
    byStart.set(symbols, (byStart.get(symbols) ?? new Set()).add(pattern));
  }
  // The table has the number of a pattern, or 0.
  const numbers = new Uint8Array(2 ** 15);
  const patterns: RegExp[] = [];
  for (const [symbols, sources] of byStart) {
    numbers[symbols] = patterns.push(new RegExp([...sources].join("|"), "iy"));
  }
  return (text) => {
    const lines: number[] = [];
    let symbols = 0;
    for (let i = 0; i < text.length; i++) {
      symbols = ((symbols << 5) | symbolAt(text, i)) & 32767;
      const number = numbers[symbols] as number;
      if (number === 0) continue;
      const hint = patterns[number - 1] as RegExp;
      hint.lastIndex = i - 2;
      if (!hint.test(text)) continue;
      const start = Math.max(0, text.lastIndexOf("\n", i - 2));
      const end = endOfLines(text, i);
      // Lines in a row are one piece: a name may stand on one, and its value on the next.
      if (start <= (lines.at(-1) ?? -1)) lines[lines.length - 1] = end;
      else lines.push(start, end);
      // The next line may have a hint too, and so add the line after it.
      const next = text.indexOf("\n", i);
      if (next === -1) break;
      i = next;
      symbols = symbolAt(text, i);
    }
    return lines;
  };
}

function symbolAt(text: string, at: number): number {
  return (CLASS[text.charCodeAt(at)] as number) & SYMBOL;
}

/** The end of the line at `from` and of the next one that has text: a value may stand there. */
function endOfLines(text: string, from: number): number {
  let end = text.indexOf("\n", from);
  if (end === -1) return text.length;
  while (end < text.length && text.charCodeAt(end) <= 0x20) end++;
  end = text.indexOf("\n", end);
  return end === -1 ? text.length : end;
}
