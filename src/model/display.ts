/**
 * What every surface shows alike: excerpts, which begin and end around their matches and between
 * words; names of projects; how a session ended; the main argument of a tool call; counts; text without
 * control characters, also as a word of a command.
 */

/** UTF-16 offsets into the text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A longer word may be cut: scripts without spaces have no others. */
const LONGEST_WORD = 64;
const IN_WORD = /[\p{L}\p{M}\p{N}_]/u;

/** A match of several words: a phrase, or a line that was asked for. */
export function isRun(text: string, { start, end }: TextRange): boolean {
  return /\s/.test(text.slice(start, end));
}

/**
 * The part that an excerpt must show: the longest run, else the group of matches that has most of
 * them within `room` characters. Matches ascend and are disjoint.
 */
export function focusOf(text: string, matches: readonly TextRange[], room: number): TextRange {
  let run: TextRange | undefined;
  for (const match of matches) {
    if (lengthOf(match) > lengthOf(run) && isRun(text, match)) run = match;
  }
  return run ?? densest(matches, room);
}

/** The beginning of a text, of at most `length` characters. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, betweenWords(text, { start: 0, end: length }, NOWHERE).end);
}

const NOWHERE: TextRange = { start: 0, end: 0 };

/**
 * An excerpt of about `length` characters around the focus of the matches, at most `before` of which
 * precede it.
 */
export function excerptRange(
  text: string,
  matches: readonly TextRange[],
  length: number,
  before: number,
): TextRange {
  if (text.length <= length) return { start: 0, end: text.length };
  const focus = wholeWords(text, focusOf(text, matches, length / 2));
  const room = Math.max(0, length - lengthOf(focus));
  const start = Math.max(0, focus.start - Math.min(before, room));
  return betweenWords(text, { start, end: Math.min(text.length, start + length) }, focus);
}

/** The range with the words that it is a part of. */
export function wholeWords(text: string, { start, end }: TextRange): TextRange {
  return { start: nearest(text, start, -1), end: nearest(text, end, 1) };
}

function lengthOf(range: TextRange | undefined): number {
  return range === undefined ? 0 : range.end - range.start;
}

function densest(matches: readonly TextRange[], room: number): TextRange {
  let best = NOWHERE;
  let most = 0;
  let last = 0;
  for (const [first, { start }] of matches.entries()) {
    while (last < matches.length && (matches[last] as TextRange).end - start <= room) last++;
    last = Math.max(last, first + 1);
    if (last - first > most) {
      most = last - first;
      best = { start, end: (matches[last - 1] as TextRange).end };
    }
  }
  return best;
}

/** The range without parts of words, white space and marks that end a clause where it was cut, outside of its focus. */
export function betweenWords(text: string, { start, end }: TextRange, focus: TextRange): TextRange {
  let first = start;
  if (start > 0) {
    first = Math.max(start, Math.min(nearest(text, start, 1), focus.start));
    while (first < focus.start && /[\s.,:;!?)\]}]/.test(text[first] as string)) first++;
  }
  let last = end;
  if (end < text.length) {
    last = Math.min(end, Math.max(nearest(text, end, -1), focus.end));
    while (last > focus.end && isSpace(text, last - 1)) last--;
  }
  // A word may be longer than the range.
  return { start: first, end: last > first ? last : end };
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] as string);
}

/** The nearest place between words, from `at` on; `at` itself within a long word. */
function nearest(text: string, at: number, step: 1 | -1): number {
  for (let moved = 0, place = at; moved < LONGEST_WORD; moved++, place += step) {
    if (!isInside(text, place)) return place;
  }
  return at;
}

/** Whether the place is between two characters of a word, or the halves of one character. */
function isInside(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  if (isPair(text, at - 1)) return true;
  const isWord = (place: number) => IN_WORD.test(characterAt(text, place));
  const before = isPair(text, at - 2) ? at - 2 : at - 1;
  // `it's` is a word.
  if (isApostrophe(text, at)) return isWord(before) && isWord(at + 1);
  if (isApostrophe(text, at - 1)) return at > 1 && isWord(at - 2) && isWord(at);
  return isWord(before) && isWord(at);
}

function isApostrophe(text: string, at: number): boolean {
  return at + 1 < text.length && (text[at] === "'" || text[at] === "’");
}

function isPair(text: string, at: number): boolean {
  return at >= 0 && (text.codePointAt(at) as number) > 0xffff;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) as number);
}

/** The last part of a POSIX or Windows path; the last two if the last is a number, as of worktrees. */
export function projectName(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  const isNumber = /^\d*$/.test(parts.at(-1) ?? "");
  return parts.slice(isNumber ? -2 : -1).join("/") || path;
}

/** The input fields that describe a tool call, in order of preference: its main argument. */
export const MAIN_ARGUMENTS: readonly string[] = [
  "command",
  "cmd",
  "file_path",
  "path",
  "filePath",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "subject",
  "skill",
  "name",
];

/** `1,234`, without a locale, whose first use costs a short command a tenth of its time. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3}){1,7}$)/g, ",");
}

/** `committed 4be1c20, 3 files`; `unfinished, 2 files, tests failed`; empty if nothing is known. */
export function outcomeWords({ word, commit, filesChanged, testsPassed }: Ended): string {
  if (word === null) return "";
  const files = !filesChanged ? "" : `${filesChanged} file${filesChanged === 1 ? "" : "s"}`;
  const head = word === "committed" && commit !== null ? `${word} ${commit}` : word;
  const tests = testsPassed === false ? "tests failed" : "";
  return [head, files, tests].filter((part) => part !== "").join(", ");
}

interface Ended {
  readonly word: string | null;
  readonly commit: string | null;
  readonly filesChanged: number | null;
  readonly testsPassed: boolean | null;
}

/** Control characters, line separators and bidirectional controls. */
const HARMFUL = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Makes control characters visible. Text of agents and tools may hold escape sequences that would
 * recolour, overwrite or retitle a reader's terminal, or show it in another order than it is run.
 */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HARMFUL, (character) => {
    const code = character.charCodeAt(0);
    if (character === "\n" || character === "\t") return character;
    // Unicode has pictures of the C0 control characters; others are shown by number.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/**
 * Quotes any text, such as a folder that a transcript names, as one word of a command to copy: for
 * PowerShell if `platform` is `win32`, else for a POSIX shell. A terminal does not obey its control
 * characters: they are escaped, as bash, zsh and ksh read it (`$'\033'`); another shell finds no
 * such folder.
 */
export function shellWord(text: string, platform?: string): string {
  if (platform === "win32") return powerShellWord(text);
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (text.search(HARMFUL) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${text.replace(/['\\!]/g, toOctal).replace(HARMFUL, toOctal)}'`;
}

/** Three digits each: unlike hexadecimal ones, they end before any other character. */
function toOctal(character: string): string {
  const bytes = Array.from(new TextEncoder().encode(character));
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/** PowerShell takes typographic quotes for quotes, and has escapes only where it also has variables. */
function powerShellWord(text: string): string {
  if (/^[\w:./\\-]+$/.test(text)) return text;
  const quoted = `'${text.replace(/['\u2018-\u201B]/g, "$&$&")}'`;
  if (text.search(HARMFUL) < 0) return quoted;
  return `(${quoted.replace(HARMFUL, (character) => `'+[char]${character.charCodeAt(0)}+'`)})`;
}
