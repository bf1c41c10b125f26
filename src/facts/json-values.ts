/**
 * Finds JSON values in a model's answer.
 *
 * Models put JSON into code fences, add sentences, leave trailing commas, give one object per line,
 * or are cut off. Everything readable is used.
 */

export interface JsonValues {
  readonly values: readonly unknown[];
  /** The number of unreadable values. */
  readonly broken: number;
}

/**
 * The objects and arrays of `text`, outermost first. An unreadable array gives the objects in it.
 * Linear in the text's length.
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
    // Elements of a broken list may be complete; the parts of a broken object are not trusted.
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

/** The closing bracket of the one at `start`, ignoring strings; -1 if missing. */
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

/** `text` without trailing commas, ignoring strings, also one without an end. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])/gs, (_, string?: string) => string ?? "");
}
