/**
 * JSON that keeps its digits.
 *
 * `JSON.parse` rounds a number beyond 2^53 and makes `1e400` infinite. In a tool call's arguments that
 * changes what a model asked for: an id of 19 digits is a different id afterwards. Here such numbers
 * come as raw JSON, which `JSON.stringify` prints as it was.
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
 * Only numbers of many digits, and those with a large exponent, can lose something. A number follows
 * one of these signs: ids in hex, which are in every line of a transcript, follow a quote.
 */
const MAY_LOSE = /(?:^|[:,[\s])-?[0-9](?:[0-9.]{15,}|[0-9.]*[eE][+-]?[0-9]{2})/;

/** A number with an exponent of two digits, as it ends: a third of the time that `MAY_LOSE` takes. */
const HAS_EXPONENT = /[0-9][eE][+-]?[0-9]{2,}(?:[\s,\]}]|$)/;

/** Half of the characters that a number has at least which may lose some. */
const STEP = 8;

/**
 * Whether there may be sixteen digits and dots in a row. Such a run has two of the places that are
 * looked at and all between them: of most text one character in eight is read.
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

/** As `JSON.parse`, but what `JSON.stringify` gives of the result has every number as it was written. */
export function parseExact(text: string): unknown {
  const isPlain = !hasLongRun(text) && !HAS_EXPONENT.test(text);
  if (isPlain || !MAY_LOSE.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isExact(value, source)
      ? json.rawJSON(source)
      : value,
  );
}

/** Whether `value` printed again means the same number as `source`. */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  return String(value) === source || digitsOf(String(value)) === digitsOf(source);
}

/** A number as its significant digits and its power of ten, so that `1.50` and `15e-1` are the same. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const significant = all.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + all.length - significant.length}`;
}
