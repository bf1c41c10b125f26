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

/**
 * Keys that are known by their shape: a prefix that a provider gave them, and the characters after
 * it. A row is a prefix, a class of characters and their least number. Shapes are facts from the
 * providers' documentation and the public rules of secret scanners.
 */

/** A prefix as a pattern without repetition, the characters after it and their least number. */
type Row = readonly [prefix: string, characters: string, least: number];

const WORD = "[\\w-]";
const PLAIN = "[A-Za-z0-9]";
const LINE = "\\w";
const HEX = "[a-f0-9]";
const BASE64 = "[\\w+/=-]";
const DOTTED = "[\\w.-]";

/** Keys whose characters are random, and so have a digit among them. */
const WITH_DIGIT: readonly Row[] = [
  // Models: OpenAI, Anthropic, OpenRouter, DeepSeek and others; Groq, xAI, Perplexity, Replicate.
  ["sk-", WORD, 17],
  ["gsk_", PLAIN, 30],
  ["xai-", PLAIN, 30],
  ["pplx-", PLAIN, 30],
  ["r8_", PLAIN, 30],
  ["nvapi-", WORD, 30],
  ["(?:fw|jina|pcsk|tgp_v1)_", PLAIN, 20],
  ["(?:csk|tvly|ctx7sk)-", WORD, 20],
  ["fc-", HEX, 30],
  ["lsv2_(?:pt|sk)_", LINE, 20],
  ["ABSK", BASE64, 60],
  // Backscroll
  ["bs[ks]_", WORD, 16],
  // Code hosts and registries
  ["gh[pousr]_", LINE, 16],
  ["github_pat_", LINE, 16],
  ["gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-", DOTTED, 16],
  ["GR1348941", WORD, 16],
  ["ATCTT3|ATATT3|ATBB|ATTA", BASE64, 20],
  ["BBDC-", BASE64, 30],
  ["npm_", PLAIN, 30],
  ["pypi-", WORD, 30],
  ["dckr_(?:pat|oat)_", WORD, 16],
  ["rubygems_", HEX, 32],
  ["cio", PLAIN, 32],
  ["oy2", "[a-z0-9]", 43],
  ["CLOJARS_", PLAIN, 40],
  ["sgp_", LINE, 30],
  ["sq[pua]_", PLAIN, 40],
  ["AKCp", PLAIN, 40],
  ["bk(?:ua|at|ct)_", PLAIN, 30],
  ["CCIPAT_", LINE, 20],
  ["snyk_", DOTTED, 20],
  // Clouds
  ["(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]", 16],
  ["AIza", WORD, 30],
  ["ya29\\.", DOTTED, 16],
  ["GOCSPX-", WORD, 20],
  ["1\\/\\/0", WORD, 30],
  ["LTAI", PLAIN, 16],
  ["AKID", PLAIN, 28],
  ["do[opr]_v1_", HEX, 32],
  ["hv[sbr]\\.", WORD, 20],
  ["dapi", HEX, 32],
  ["dp\\.(?:pt|st|ct|sa|scim|audit)\\.", DOTTED, 20],
  ["HRKU-", WORD, 30],
  ["NR(?:AK|JS|RA|IQ|II|AL)-", WORD, 20],
  ["gls?[ac]_", BASE64, 20],
  ["sntry[su]_", BASE64, 30],
  ["sbp_", HEX, 32],
  ["sb_secret_", WORD, 20],
  ["(?:vercel|vc[pkiar])_", PLAIN, 24],
  ["nf[pcoub]_", PLAIN, 24],
  ["fo1_", WORD, 30],
  ["fm[12][ar]?_", BASE64, 40],
  ["cf(?:ut|at|k)_", PLAIN, 30],
  ["v1\\.0-", "[a-f0-9-]", 60],
  ["tskey-(?:[a-z]+-)?", WORD, 16],
  ["pul-", HEX, 40],
  ["dt0[a-z]\\d\\d\\.", DOTTED, 30],
  ["pscale_(?:tkn|pw|oauth)_", DOTTED, 20],
  ["sha256~", WORD, 40],
  ["phx_", PLAIN, 30],
  ["pnu_", PLAIN, 30],
  ["ico-", PLAIN, 32],
  ["(?:api|sdk|mob)-[a-f0-9]{8}-[a-f0-9]{4}-", "[a-f0-9-]", 20],
  ["API-", "[A-Z0-9]", 26],
  // Money, post, talk and tools
  ["[spr]k_(?:live|test|prod)_", LINE, 12],
  ["whsec_", BASE64, 16],
  ["rzp_(?:live|test)_", PLAIN, 14],
  ["sq0[a-z]{3}-", WORD, 20],
  ["EAAA", WORD, 56],
  ["EAACEdEose0cBA", PLAIN, 16],
  ["shp(?:at|ca|pa|ss|tka)_", PLAIN, 30],
  ["(?:shippo|duffel)_(?:live|test)_", WORD, 30],
  ["FLWSECK(?:_TEST)?-", WORD, 20],
  ["EZ[AT]K", PLAIN, 50],
  ["xox[a-z](?:\\.xox[a-z])?-", WORD, 15],
  ["xapp-", WORD, 15],
  ["xkeysib-", WORD, 40],
  ["re_[A-Za-z0-9]{6,10}_", PLAIN, 20],
  ["key-", HEX, 32],
  ["SK", HEX, 32],
  ["AC", HEX, 32],
  ["lin_(?:api|oauth)_", PLAIN, 30],
  ["ntn_", PLAIN, 30],
  ["secret_", PLAIN, 40],
  ["fig[dour]_?", WORD, 36],
  ["pat-(?:na|eu)\\d-", "[a-f0-9-]", 32],
  ["pat[A-Za-z0-9]{14}\\.", HEX, 60],
  ["PMAK-", WORD, 40],
  ["CFPAT-", WORD, 40],
  ["tfp_", DOTTED, 40],
  ["rdme_", PLAIN, 60],
  ["sm_[aps]at_", PLAIN, 16],
  ["ops_eyJ", BASE64, 60],
  ["AGE-SECRET-KEY-1", "[A-Z0-9]", 40],
  ["EAA[A-Z]", PLAIN, 80],
];

/** Keys that are unmistakable without a digit. */
const WITHOUT_DIGIT: readonly Row[] = [
  ["SG\\.[\\w-]{16,64}\\.", WORD, 32],
  ["eyJ[\\w-]{6,8000}\\.", DOTTED, 20],
  // Telegram and Discord: an id, and a secret.
  ["(?:bot)?\\d{6,10}:AA", WORD, 30],
  ["[MNO][\\w-]{22,28}\\.[\\w-]{6,7}\\.", WORD, 27],
  // Mailchimp's has its data centre last.
  ["[a-f0-9]{32}-us", "\\d", 1],
];

/** What begins a key: the start of a word, or a JSON escape such as `\n` before it. */
const START = "(?:(?<![\\w-])|(?<=\\\\[bfnrt]))";

/** No key is shorter: most words end before their prefix is looked at. */
const LONG = "(?=[\\w.:~/-]{18})";

/** All of them as one pattern; `digit` is found where the key must have a digit. */
export const KNOWN_KEY: RegExp = new RegExp(
  `${START}${LONG}(?:(?<digit>${alternatives(WITH_DIGIT)})|${alternatives(WITHOUT_DIGIT)}|hf_[A-Za-z0-9]{30,})`,
  "g",
);

function alternatives(rows: readonly Row[]): string {
  return rows
    .map(([prefix, characters, least]) => `(?:${prefix})${characters}{${least},}`)
    .join("|");
}
