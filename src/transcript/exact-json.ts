/**
 * Lossless JSON parsing: numbers keep all their digits.
 *
 * `JSON.parse` rounds numbers beyond 2^53 and makes `1e400` infinite. In a tool call's arguments
 * that changes the request: an id of 19 digits becomes another id. Here such numbers are raw JSON,
 * which `JSON.stringify` prints unchanged.
 */

interface RawJson {
  rawJSON(text: string): object;
  parse(text: string, reviver: (key: string, value: unknown, context: Source) => unknown): unknown;
}

interface Source {
  /** The text of a number, a string, a boolean or null. */
  readonly source?: string;
}

const json = JSON as unknown as RawJson;

/**
 * Only numbers of many digits, or with a large exponent, can lose something. A number follows one
 * of these signs; hex ids, which are on every line of a transcript, follow a quote.
 */
const MAY_LOSE = /(?:^|[:,[\s])-?[0-9](?:[0-9.]{15,}|[0-9.]*[eE][+-]?[0-9]{2})/;

/** The end of a number with an exponent of two digits: a third of the time of `MAY_LOSE`. */
const HAS_EXPONENT = /[0-9][eE][+-]?[0-9]{2,}(?:[\s,\]}]|$)/;

/** Half of the minimum length of a number that may lose digits. */
const STEP = 8;

/**
 * Whether there may be sixteen digits and dots in a row, by sampling: such a run contains two
 * sampled positions and everything between them, so in most text one character in eight is read.
 */
function hasLongRun(text: string): boolean {
  for (let i = STEP - 1; i + STEP < text.length; i += STEP) {
    if (!isDigit(text.charCodeAt(i)) || !isDigit(text.charCodeAt(i + STEP))) continue;
    let next = i + 1;
    while (next < i + STEP && isDigit(text.charCodeAt(next))) next++;
    if (next === i + STEP) return true;
  }
  return false;
}

/** Or a dot. */
function isDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** As `JSON.parse`, but `JSON.stringify` of the result prints every number as written. */
export function parseExact(text: string): unknown {
  const isPlain = !hasLongRun(text) && !HAS_EXPONENT.test(text);
  if (isPlain || !MAY_LOSE.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isExact(value, source)
      ? json.rawJSON(source)
      : value,
  );
}

/** Whether `value` printed is the same number as `source`. */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  return String(value) === source || digitsOf(String(value)) === digitsOf(source);
}

/** A number as significant digits and a power of ten, so that `1.50` and `15e-1` are equal. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const significant = all.replace(/(?<!0)0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + all.length - significant.length}`;
}
