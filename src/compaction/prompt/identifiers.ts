/**
 * Exact names in text: paths, file names, code identifiers, error codes, versions.
 *
 * A summary must keep them to the letter.
 */

import { inputTextOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";

const FILE_EXTENSIONS =
  "tsx?|jsx?|mjs|cjs|rs|py|go|java|kt|swift|rb|php|cs|cpp|cc|hpp|md|json|ya?ml|toml|lock|sql|sh|css|html?|xml|csv|txt|env|ipynb";

/** The alternatives are unambiguous, so long runs of dots or dashes cause no backtracking. */
const IDENTIFIER = new RegExp(
  [
    // An address.
    String.raw`\bhttps?://[\w./?=&%#@:+~-]*[\w/]`,
    // A path, with a slash inside.
    String.raw`(?<![\w/.@~-])[\w.@~-]*(?:/[\w.@+-]*\w)+`,
    // A file name.
    String.raw`(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.(?:${FILE_EXTENSIONS})\b`,
    // snake_case, SCREAMING_CASE.
    String.raw`\b[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+\b`,
    // camelCase and PascalCase of two humps or more.
    String.raw`\b[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b`,
    // E1234, TS2304, CVE-2024, ECONNREFUSED.
    String.raw`\b[A-Z]{1,6}-?\d{2,}(?:-\d+)*\b`,
    String.raw`\bE[A-Z]{4,}\b`,
    // An issue, a version.
    String.raw`(?<!\w)#\d+\b`,
    String.raw`\bv?\d+\.\d+\.\d+\b`,
  ].join("|"),
  "g",
);

const MAX_IDENTIFIER_LENGTH = 120;
/** The limit of requested names; more would make the summary a word list. */
const MOST_FREQUENT = 10;
/** Longer tool arguments are file contents. */
const MAX_ARGUMENT_LENGTH = 300;
/** Characters read of a message. */
const MAX_TEXT_LENGTH = 20_000;

/** The identifiers that at least two entries mention, the most frequent first. */
export function frequentIdentifiers(entries: readonly Entry[]): string[] {
  const ids = new Set(entries.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const found = new Set(textsOf(entry).flatMap(identifiersIn));
    for (const name of found) if (!ids.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return mostFrequent(counts, 2);
}

/** The most frequent identifiers of a text, such as an earlier summary. */
export function identifiersOfText(text: string): string[] {
  const counts = new Map<string, number>();
  for (const name of identifiersIn(text)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return mostFrequent(counts, 1);
}

function mostFrequent(counts: ReadonlyMap<string, number>, atLeast: number): string[] {
  const frequent = [...counts].filter(([, count]) => count >= atLeast);
  // A stable sort: first mentions win among equals.
  frequent.sort(([, a], [, b]) => b - a);
  return frequent.slice(0, MOST_FREQUENT).map(([name]) => name);
}

function identifiersIn(text: string): string[] {
  const found = text.slice(0, MAX_TEXT_LENGTH).match(IDENTIFIER) ?? [];
  return found.filter((name) => {
    if (name.length > MAX_IDENTIFIER_LENGTH || name.length < 3) return false;
    if (name.includes("/") && !LIKE_A_PATH.test(name)) return false;
    return !ULID.test(name);
  });
}

/**
 * Excludes "and/or": a path has a dot, a digit or an underscore, is absolute, or has more slashes.
 */
const LIKE_A_PATH = /[.~_\d]|^\/|\/.*\//;

/** Entry ids of our citations are no names. */
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Messages and short tool arguments; results have too many names. */
function textsOf({ blocks }: Entry): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "tool_use" ? argumentsIn(inputTextOf(block)) : [];
  });
}

/** The values of JSON arguments; their keys belong to the tool. */
function argumentsIn(input: string): string[] {
  const values: string[] = [];
  try {
    JSON.parse(input, (_, value) => {
      if (typeof value === "string" && value.length <= MAX_ARGUMENT_LENGTH) values.push(value);
      return value;
    });
  } catch {
    // Truncated JSON is ignored.
  }
  return values;
}
