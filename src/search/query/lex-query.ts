/** The lexer of queries: words, phrases, filters, and their signs. */

export interface Item {
  /** `+` and `-` directly before a word or phrase. */
  readonly sign: "+" | "-" | "";
  /** The key before a colon: `agent` in `agent:coder`. Any key; the parser selects known ones. */
  readonly key: string | undefined;
  readonly quoted: boolean;
  /** Without sign, key and quotes. */
  readonly value: string;
  /** As typed, without its sign. */
  readonly text: string;
  /** Where it ends in the query. */
  readonly end: number;
}

const OPENING = /["“”„]/;
const KEY = /^([A-Za-z]+):(?=\S)/;

/** Splits at white space outside quotes. An unclosed quote is white space. */
export function lexQuery(query: string): Item[] {
  const items: Item[] = [];
  let at = 0;
  while (at < query.length) {
    if (/\s/.test(query[at] ?? "")) {
      at++;
      continue;
    }
    const sign = signAt(query, at);
    const start = at + sign.length;
    const key = KEY.exec(query.slice(start, start + 32))?.[1];
    const valueStart = key === undefined ? start : start + key.length + 1;
    const close = OPENING.test(query[valueStart] ?? "") ? closingQuote(query, valueStart) : -1;
    const quoted = close >= 0;
    const end = quoted ? close + 1 : wordEnd(query, valueStart);
    const value = quoted ? query.slice(valueStart + 1, close) : query.slice(valueStart, end);
    items.push({ sign, key, quoted, value, text: query.slice(start, end), end });
    at = end;
  }
  return items;
}

/** A sign counts before a word or phrase: not alone, not in `--force`, `-1` or `-count=1`. */
function signAt(query: string, at: number): "+" | "-" | "" {
  const sign = query[at];
  if (sign !== "+" && sign !== "-") return "";
  const rest = /^[^\s]*/.exec(query.slice(at + 1, at + 64))?.[0] ?? "";
  const isWord = rest !== "" && !/^[+-]/.test(rest) && !/^[\d.,]+$|^\w+=/.test(rest);
  return isWord ? sign : "";
}

function closingQuote(query: string, opening: number): number {
  for (let i = opening + 1; i < query.length; i++) if (OPENING.test(query[i] ?? "")) return i;
  return -1;
}

/** A word ends at white space, or at a phrase. */
function wordEnd(query: string, from: number): number {
  let end = from + 1;
  while (end < query.length && !/[\s"“”„]/.test(query[end] ?? "")) end++;
  return end;
}
