/**
 * The JSON values in a text that is not only JSON: what models answer when they are asked for JSON.
 *
 * They put it into code fences, write a sentence round it, leave a comma at the end, give one object
 * a line, or are cut off in the middle. Whatever can be read of it is read.
 */

export interface JsonValues {
  readonly values: readonly unknown[];
  /** Beginnings of values that could not be read. */
  readonly broken: number;
}

/**
 * The objects and arrays of `text`, outermost first. Of an array that cannot be read as a whole, the
 * objects in it are given. The time is bounded by the text's length.
 */
export function findJsonValues(text: string): JsonValues {
  const values: unknown[] = [];
  let broken = 0;
  let at = 0;
  let looks = 0;
  while (at < text.length && looks < MAX_LOOKS) {
    const start = nextOpening(text, at);
    if (start < 0) break;
    const end = closingOf(text, start);
    const value = end < 0 ? undefined : parse(text.slice(start, end + 1));
    if (value !== undefined) {
      values.push(value);
      at = end + 1;
      continue;
    }
    looks++;
    const isList = text[start] === "[";
    if (!isList) broken++;
    // Elements of a broken list may be whole; the parts of a broken object are not trusted.
    at = isList || end < 0 ? start + 1 : end + 1;
  }
  return { values, broken };
}

/** Failed attempts before giving up: each may scan to the end of the text. */
const MAX_LOOKS = 100;

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{" || text[at] === "[") return at;
  }
  return -1;
}

/** The place of the bracket that closes the one at `start`, strings left alone; -1 if there is none. */
function closingOf(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      depth--;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(withoutTrailingCommas(text));
    } catch {
      return undefined;
    }
  }
}

/** `text` without commas that stand before a closing bracket, strings left alone. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/gs, (_, string?: string) => string ?? "");
}
