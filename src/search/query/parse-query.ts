/**
 * The query parser. Any text is valid: unknown syntax is plain words.
 *
 * | typed                         | meaning                                                   |
 * | ----------------------------- | --------------------------------------------------------- |
 * | `cron lock`                   | either word, both are better (`match: "all"`: both)       |
 * | `"cron lock"`                 | these words in this order, required                       |
 * | `+word`, `a AND b`            | required                                                  |
 * | `-word`, `NOT word`           | documents with it are left out                            |
 * | `a OR b`, `a or b`            | one of them where a word would be required                |
 * | `pre*`                        | words that begin so                                       |
 * | `agent:coder`, `since:7d`     | filters: words of `SESSION_FILTERS`, and `role:`, `tool:`, |
 * |                               | `since:`, `until:`; a value with spaces in quotes         |
 *
 * OR binds its neighbours first: `a AND b OR c` is `a AND (b OR c)`.
 */

import { ROLES } from "../../model/entry.ts";
import type { QUERY_MATCHES } from "../../model/inputs/choices.ts";
import { KINDS } from "../../model/inputs/kinds.ts";
import { type FilterKind, filtersOf } from "../../model/session-filters.ts";
import type { SessionCondition } from "../port.ts";
import { type Item, lexQuery } from "./lex-query.ts";
import type { Leaf, ParsedQuery, QueryFilters } from "./query.ts";
import { resolveDate } from "./resolve-date.ts";

export interface ParseOptions {
  /** Reference time of `today` and `7d`, in epoch milliseconds. */
  readonly now: number;
  readonly match?: QueryMatch;
  /** The last word is being typed: it matches as a prefix. */
  readonly asYouType?: boolean;
}

/**
 * `any` (the default): more words rank higher. `all`: plain words are all required. `words`: as
 * `any`, without operators, phrases and filters, as for a message rather than a query.
 */
export type QueryMatch = (typeof QUERY_MATCHES)[number];

/** The limit of a query in code units: a pasted log is cut here, with a note. */
export const MAX_QUERY_LENGTH = 16_384;

export function parseQuery(text: string, options: ParseOptions): ParsedQuery {
  const read = text.slice(0, MAX_QUERY_LENGTH);
  const parsed = options.match === "words" ? wordsOnly(read) : parseOperators(read, options);
  if (text.length <= MAX_QUERY_LENGTH) return parsed;
  const note = `Only the first ${MAX_QUERY_LENGTH} characters of the query were used.`;
  return { ...parsed, notes: [...parsed.notes, note] };
}

function parseOperators(text: string, options: ParseOptions): ParsedQuery {
  const parser = new Parser(options);
  const items = lexQuery(text);
  // A trailing space completes the word.
  const isOpen = options.asYouType === true && /[\p{L}\p{M}\p{N}]$/u.test(text);
  let typed = "";
  let from = 0;
  for (const [i, item] of items.entries()) {
    const isTyped = isOpen && i === items.length - 1 && !item.quoted && item.key === undefined;
    const isWords = parser.add(
      isTyped ? { ...item, text: `${item.text}*`, value: `${item.value}*` } : item,
    );
    if (isWords) typed += text.slice(from, item.end);
    from = item.end;
  }
  return { ...parser.finish(), typed };
}

function wordsOnly(text: string): ParsedQuery {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const optional = words.map((word) => ({ kind: "word" as const, text: word }));
  return { required: [], optional, excluded: [], filters: {}, typed: text, notes: [] };
}

type Operator = "" | "and" | "or" | "not";

/** Words joined by OR, and whether one of them is required. */
interface Group {
  readonly leaves: Leaf[];
  required: boolean;
}

type FilterLists = { -readonly [K in keyof QueryFilters]: QueryFilters[K] };

interface Listed {
  readonly name: keyof SessionCondition | "role" | "tool";
  /** Undefined: it is no value. */
  readonly read: (text: string, now: number) => string | number | undefined;
  readonly flaw?: string;
}

const READ: Readonly<Record<FilterKind, Listed["read"]>> = {
  count: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  flag: (text) => (text === "true" ? 1 : text === "false" ? 0 : undefined),
  time: (text, now) => resolveDate(text, now, "since"),
};

const toRole = (text: string) => ROLES.find((role) => role === text.toLowerCase());

/** Filters with a list of values, by key. */
const LISTED: ReadonlyMap<string, Listed> = new Map<string, Listed>([
  ...filtersOf("search").flatMap(([name, { word, kind }]): [string, Listed][] => {
    if (word === undefined) return [];
    if (kind === undefined) return [[word, { name, read: String }]];
    return [[word, { name, read: READ[kind], flaw: `must be ${KINDS[kind].words}` }]];
  }),
  ["tool", { name: "tool", read: String }],
  ["role", { name: "role", read: toRole, flaw: `names no role (${ROLES.join(", ")})` }],
]);

class Parser {
  readonly #options: ParseOptions;
  readonly #groups: Group[] = [];
  readonly #excluded: Leaf[] = [];
  readonly #filters: FilterLists = {};
  readonly #notes: string[] = [];
  /** The last operator, which waits for its word. */
  #operator: Operator = "";

  constructor(options: ParseOptions) {
    this.#options = options;
  }

  /** False: the item is a filter. */
  add(item: Item): boolean {
    const operator = operatorOf(item);
    if (operator !== "") {
      this.#operator = operator;
      const last = this.#groups.at(-1);
      if (operator === "and" && last !== undefined) last.required = true;
      return true;
    }
    const waiting = this.#operator;
    this.#operator = "";
    const negated = item.sign === "-" || waiting === "not";
    if (item.key !== undefined && !negated && this.#filter(item.key, item)) return false;
    const leaf = leafOf(item);
    if (leaf !== undefined) this.#addLeaf(leaf, item, waiting, negated);
    return true;
  }

  #addLeaf(leaf: Leaf, item: Item, waiting: Operator, negated: boolean): void {
    if (negated) {
      this.#exclude(leaf, item.key?.toLowerCase() ?? "");
      return;
    }
    const required = item.sign === "+" || waiting === "and" || leaf.kind === "phrase";
    const last = this.#groups.at(-1);
    if (waiting === "or" && last !== undefined) {
      last.leaves.push(leaf);
      last.required ||= required;
    } else {
      this.#groups.push({ leaves: [leaf], required });
    }
  }

  finish(): Omit<ParsedQuery, "typed"> {
    const all = this.#options.match === "all";
    const isRequired = (group: Group) => group.required || all;
    if (this.#groups.length === 0 && this.#excluded.length > 0) {
      this.#notes.push("The query has only excluded words: there is nothing to look for.");
    }
    if (
      this.#groups.length + this.#excluded.length === 0 &&
      Object.keys(this.#filters).length > 0
    ) {
      this.#notes.push("The query has only filters: there is nothing to look for.");
    }
    return {
      required: this.#groups.filter(isRequired).map(({ leaves }) => leaves),
      optional: this.#groups.filter((group) => !isRequired(group)).flatMap(({ leaves }) => leaves),
      excluded: this.#excluded,
      filters: this.#filters,
      notes: this.#notes,
    };
  }

  #exclude(leaf: Leaf, key: string): void {
    this.#excluded.push(leaf);
    if (LISTED.has(key) || ["since", "until"].includes(key)) {
      this.#notes.push(`A filter cannot be negated: ${leaf.text} was excluded as words instead.`);
    }
  }

  /** Applies a filter; false if it is plain text. */
  #filter(typedKey: string, { value, text }: Item): boolean {
    const key = typedKey.toLowerCase();
    if (value === "") return false;
    const listed = LISTED.get(key);
    if (listed !== undefined) return this.#list(listed, value, text);
    return key === "since" || key === "until" ? this.#date(key, value, text) : false;
  }

  #list({ name, read, flaw }: Listed, value: string, text: string): boolean {
    const found = read(value, this.#options.now);
    if (found === undefined) this.#notes.push(`${text} ${flaw}; it was searched as words.`);
    else Object.assign(this.#filters, { [name]: [...(this.#filters[name] ?? []), found] });
    return found !== undefined;
  }

  #date(edge: "since" | "until", value: string, text: string): boolean {
    const time = resolveDate(value, this.#options.now, edge);
    if (time === undefined) {
      const example = "2026-05-01, 2026-05, 2026, 7d, 24h, today, yesterday";
      this.#notes.push(`${text} is no date (${example}); it was searched as words.`);
      return false;
    }
    const last = edge === "since" ? time : time - 1;
    const before = this.#filters[edge] ?? last;
    this.#filters[edge] = edge === "since" ? Math.max(before, last) : Math.min(before, last);
    return true;
  }
}

/** `and` and `not` in lower case are ordinary words. */
function operatorOf({ text, sign, quoted }: Item): Operator {
  if (sign !== "" || quoted) return "";
  if (text === "AND") return "and";
  if (text === "NOT") return "not";
  return text.toLowerCase() === "or" ? "or" : "";
}

function leafOf({ key, quoted, value, text }: Item): Leaf | undefined {
  if (quoted && key === undefined) {
    return value.trim() === "" ? undefined : { kind: "phrase", text: value };
  }
  const prefix = /^([^*]+)\*$/.exec(text)?.[1];
  // A star after anything but a letter or digit is not a prefix: `src/*`.
  if (prefix !== undefined && /[\p{L}\p{M}\p{N}]$/u.test(prefix)) {
    return { kind: "prefix", text: prefix };
  }
  return { kind: "word", text };
}
