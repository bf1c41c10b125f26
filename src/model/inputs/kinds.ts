/**
 * The kinds of values that fields of inputs take, and the notation of the tables in this folder:
 *
 * - `"count"`: a value of one kind; `"seconds|null"`: of any of several;
 * - `"name!"`: the field is required;
 * - `["a", "b"]`: one of these values; `{ one: […], or: "object" }`: or of a kind;
 * - `{ methods: ["now"] }`: an object with these methods; `must`: the field is required.
 */

import { isPlainObject } from "../json.ts";

/** The TypeScript type of each kind. */
interface KindTypes {
  any: unknown;
  null: null;
  false: false;
  flag: boolean;
  text: string;
  key: string;
  name: string;
  texts: readonly string[];
  list: readonly unknown[];
  bytes: Uint8Array;
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  count: number;
  positive: number;
  number: number;
  share: number;
  ms: number;
  seconds: number;
  port: number;
  time: number | Date;
  callback: (...parameters: never[]) => unknown;
  class: abstract new (...parameters: never[]) => object;
  signal: AbortSignal;
  object: object;
  instance: object;
}

export type KindName = keyof KindTypes;

interface KindRule {
  /** Completes "must be …". */
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
  /** Completes "must be …" for values of the right type that are refused all the same. */
  readonly flaw?: (value: unknown) => string | undefined;
}

const isNumber = (value: unknown, least: number, most = Number.POSITIVE_INFINITY): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= least && value <= most;

const isWhole = (value: unknown, least: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least;

const isText = (value: unknown): value is string => typeof value === "string";

const isInstance = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isSignal(value: unknown): boolean {
  if (!isInstance(value)) return false;
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}

function isChunks(value: unknown): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

function isTime(value: unknown): boolean {
  return isWhole(value instanceof Date ? value.getTime() : value, 0);
}

function keyFlaw(value: unknown): string | undefined {
  return isText(value) && (value.includes("\0") || !value.isWellFormed())
    ? "well-formed Unicode without a NUL character"
    : undefined;
}

/** A timer fires at once with more. */
const MAX_MS = 2 ** 31 - 1;

/** Limits of size are the calls' own: exceeding one is `too_large`. */
export const KINDS: Readonly<Record<KindName, KindRule>> = {
  any: { words: "any value", accepts: () => true },
  null: { words: "null", accepts: (value) => value === null },
  false: { words: "false", accepts: (value) => value === false },
  flag: { words: "true or false", accepts: (value) => typeof value === "boolean" },
  text: { words: "a string", accepts: isText },
  // An id or a name to look up: any text that a database can store; an unknown one is not found.
  key: { words: "a string", accepts: isText, flaw: keyFlaw },
  name: {
    words: "a non-empty string",
    accepts: (value) => isText(value) && value.trim() !== "",
  },
  texts: {
    words: "an array of strings",
    accepts: (value) => Array.isArray(value) && value.every(isText),
  },
  list: { words: "an array", accepts: Array.isArray },
  bytes: { words: "a Uint8Array", accepts: (value) => value instanceof Uint8Array },
  chunks: { words: "an iterable of Uint8Arrays, such as a stream", accepts: isChunks },
  count: { words: "a whole number of at least 0", accepts: (value) => isWhole(value, 0) },
  positive: { words: "a whole number of at least 1", accepts: (value) => isWhole(value, 1) },
  number: { words: "a number of at least 0", accepts: (value) => isNumber(value, 0) },
  share: { words: "a number from 0 to 1", accepts: (value) => isNumber(value, 0, 1) },
  ms: { words: "a number of milliseconds", accepts: (value) => isNumber(value, 0, MAX_MS) },
  seconds: {
    words: "a whole number of seconds of at least 1",
    accepts: (value) => isWhole(value, 1),
  },
  port: {
    words: "a whole number from 0 to 65535",
    accepts: (value) => isWhole(value, 0) && (value as number) <= 65_535,
  },
  time: { words: "a Date or epoch milliseconds", accepts: isTime },
  callback: { words: "a function", accepts: (value) => typeof value === "function" },
  class: { words: "a class", accepts: (value) => typeof value === "function" },
  signal: { words: "an AbortSignal", accepts: isSignal },
  object: { words: "an object", accepts: isPlainObject },
  instance: { words: "an object", accepts: isInstance },
};

/** One of the listed values, or a value of a kind. */
interface Choice {
  readonly one: readonly string[];
  readonly or?: KindName | WithMethods;
  readonly must?: true;
}

interface WithMethods {
  readonly methods: readonly string[];
  readonly must?: true;
}

export type Kind = string | readonly string[] | Choice | WithMethods;

/** The kinds of an input's fields. */
export type Kinds = Readonly<Record<string, Kind>>;

/** The TypeScript type of the values that a kind accepts. */
export type TypeOf<Given> = Given extends `${infer Base}!`
  ? TypeOf<Base>
  : Given extends `${infer Left}|${infer Right}`
    ? TypeOf<Left> | TypeOf<Right>
    : Given extends KindName
      ? KindTypes[Given]
      : Given extends readonly (infer Value)[]
        ? Value
        : Given extends { readonly one: readonly (infer Value)[] }
          ? Value | (Given extends { readonly or: infer Other } ? TypeOf<Other> : never)
          : Given extends { readonly methods: readonly string[] }
            ? object
            : never;

/** A kind, ready to check values. */
export interface ReadKind extends KindRule {
  readonly isRequired: boolean;
  /** Whether the given text is part of the error: a misspelt choice is. */
  readonly isChoice: boolean;
}

export function readKind(kind: Kind): ReadKind {
  if (typeof kind === "string") {
    const isRequired = kind.endsWith("!");
    const names = (isRequired ? kind.slice(0, -1) : kind).split("|");
    return { ...anyOf(names.map((name) => KINDS[name as KindName])), isRequired, isChoice: false };
  }
  if ("methods" in kind) {
    return { ...withMethods(kind), isRequired: kind.must === true, isChoice: false };
  }
  const { one, or, must }: Choice = "one" in kind ? kind : { one: kind };
  const listed: KindRule = {
    words: `one of ${one.join(", ")}`,
    accepts: (value) => one.includes(value as string),
  };
  const other = typeof or === "object" ? withMethods(or) : or && KINDS[or];
  const rule = other === undefined ? listed : anyOf([listed, other]);
  return { ...rule, isRequired: must === true, isChoice: true };
}

function anyOf(rules: readonly KindRule[]): KindRule {
  const [first] = rules;
  if (first !== undefined && rules.length === 1) return first;
  return {
    words: rules.map(({ words }) => words).join(", or "),
    accepts: (value) => rules.some(({ accepts }) => accepts(value)),
    flaw: (value) => rules.find(({ accepts }) => accepts(value))?.flaw?.(value),
  };
}

function withMethods({ methods }: WithMethods): KindRule {
  const has = (value: object, name: string) =>
    typeof (value as Record<string, unknown>)[name] === "function";
  return {
    words: ["an object", methods.map((name) => `${name}()`).join(" and ")]
      .filter((part) => part !== "")
      .join(" with "),
    accepts: (value) => isInstance(value) && methods.every((name) => has(value, name)),
  };
}
