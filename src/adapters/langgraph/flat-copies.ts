/**
 * Copies of plain values and of LangChain's messages, each as a flat list of its parts.
 *
 * LangGraph's serializer takes 15 to 200 µs a message; a copy, and a comparison with one, take less
 * than one. A value of any other class is not copied. The parts of an object are its prototype, its
 * names and values in their order, and `END`; those of a list are `LIST`, its length and its
 * members. So a comparison reads the list once, from its start to its end.
 */

/** The brand of LangChain's messages. */
const MESSAGE = Symbol.for("langchain.message");

const LIST = Symbol("list");
const END = Symbol("end");

export type FlatCopy = readonly unknown[];

type Fields = Record<PropertyKey, unknown>;

/** Undefined if one of the values cannot be copied. */
export function toFlatCopy(values: readonly unknown[]): FlatCopy | undefined {
  const parts: unknown[] = [];
  return values.every((value) => addParts(value, parts)) ? parts : undefined;
}

/** New values, which the caller may change. */
export function fromFlatCopy(copy: FlatCopy): unknown[] {
  const reader = new Reader(copy);
  const values: unknown[] = [];
  while (!reader.isAtEnd) values.push(reader.next());
  return values;
}

/**
 * Whether `count` values from `start` on equal their copies. Objects with another order of fields
 * count as changed.
 */
export function isAsCopied(
  values: readonly unknown[],
  start: number,
  count: number,
  copy: FlatCopy,
): boolean {
  let at = 0;
  for (let i = start; i < start + count && at !== DIFFERENT; i++)
    at = endOfSame(values[i], copy, at);
  return at === copy.length;
}

/** The result of a comparison that found a difference. */
const DIFFERENT = -1;

/** The index behind the parts of a value that begin at `at`; `DIFFERENT` if they are of another value. */
function endOfSame(value: unknown, parts: FlatCopy, at: number): number {
  // Strings are mostly the very ones that were copied: `Object.is` then reads neither of them.
  if (Object.is(value, parts[at])) return at + 1;
  if (typeof value !== "object" || value === null) return value === parts[at] ? at + 1 : DIFFERENT;
  if (Array.isArray(value)) return endOfSameList(value, parts, at);
  if (Object.getPrototypeOf(value) !== parts[at]) return DIFFERENT;
  let end = at + 1;
  for (const name in value) {
    if (parts[end] !== name) return DIFFERENT;
    end = endOfSame((value as Fields)[name], parts, end + 1);
    if (end === DIFFERENT) return DIFFERENT;
  }
  return parts[end] === END ? end + 1 : DIFFERENT;
}

function endOfSameList(values: readonly unknown[], parts: FlatCopy, at: number): number {
  if (parts[at] !== LIST || parts[at + 1] !== values.length) return DIFFERENT;
  let end = at + 2;
  for (let i = 0; i < values.length && end !== DIFFERENT; i++)
    end = endOfSame(values[i], parts, end);
  return end;
}

/** False: the value cannot be copied. */
function addParts(value: unknown, parts: unknown[]): boolean {
  if (typeof value === "object" && value !== null) return addObject(value as Fields, parts);
  const isPlain = typeof value === "number" ? Number.isFinite(value) : !isOdd(value);
  if (isPlain) parts.push(value);
  return isPlain;
}

function isOdd(value: unknown): boolean {
  return typeof value === "bigint" || typeof value === "symbol" || typeof value === "function";
}

function addObject(value: Fields, parts: unknown[]): boolean {
  if (Array.isArray(value)) {
    parts.push(LIST, value.length);
    for (let i = 0; i < value.length; i++) if (!addParts(value[i], parts)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  if ((value[MESSAGE] === true) === (prototype === Object.prototype)) return false;
  parts.push(prototype);
  for (const name in value) {
    if (!Object.hasOwn(value, name)) return false;
    parts.push(name);
    if (!addParts(value[name], parts)) return false;
  }
  parts.push(END);
  return true;
}

class Reader {
  readonly #parts: FlatCopy;
  #at = 0;

  constructor(parts: FlatCopy) {
    this.#parts = parts;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#parts.length;
  }

  next(): unknown {
    const part = this.#parts[this.#at++];
    if (part === LIST) {
      const length = this.#parts[this.#at++] as number;
      return Array.from({ length }, () => this.next());
    }
    return typeof part === "object" && part !== null ? this.#object(part) : part;
  }

  #object(prototype: object): unknown {
    const copy = Object.create(prototype) as Fields;
    for (let name = this.#parts[this.#at++]; name !== END; name = this.#parts[this.#at++]) {
      const member = this.next();
      // A name that the prototype has, `__proto__` included, may be a setter there.
      if ((name as string) in copy) {
        Object.defineProperty(copy, name as string, { value: member, ...PLAIN_FIELD });
      } else copy[name as string] = member;
    }
    if (prototype !== Object.prototype && copy[MESSAGE] !== true) copy[MESSAGE] = true;
    return copy;
  }
}

const PLAIN_FIELD = { writable: true, enumerable: true, configurable: true };
