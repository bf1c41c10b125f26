/**
 * Copies of plain values and of LangChain's messages. LangGraph's serializer takes 15 to 200 µs a message;
 * a copy, and a comparison with one, take a few. A value of any other class is not copied.
 */

/** The brand of LangChain's messages. */
const MESSAGE = Symbol.for("langchain.message");

const NO_COPY = Symbol("no copy");

/** Deep copies of the values; undefined if one of them cannot be copied. */
export function copyAll(values: readonly unknown[]): unknown[] | undefined {
  const copies: unknown[] = [];
  for (const value of values) {
    const copy = copyOf(value);
    if (copy === NO_COPY) return undefined;
    copies.push(copy);
  }
  return copies;
}

/** Whether a value is as it was when it was copied. Plain loops: it runs for every member of a list. */
export function isAsCopied(value: unknown, copy: unknown): boolean {
  if (value === copy) return true;
  if (!isObject(value) || !isObject(copy)) return false;
  if (Object.getPrototypeOf(value) !== Object.getPrototypeOf(copy)) return false;
  if (Array.isArray(value)) return isSameList(value, copy as unknown as readonly unknown[]);
  let fields = 0;
  // Both have the same prototype, so inherited fields cancel out.
  for (const name in value) {
    const member = value[name];
    if (!isAsCopied(member, copy[name])) return false;
    if (member === undefined && !(name in copy)) return false;
    fields += 1;
  }
  for (const _ in copy) fields -= 1;
  return fields === 0;
}

function isSameList(values: readonly unknown[], copies: readonly unknown[]): boolean {
  if (values.length !== copies.length) return false;
  for (let i = 0; i < values.length; i++) {
    if (!isAsCopied(values[i], copies[i])) return false;
  }
  return true;
}

type Fields = Record<PropertyKey, unknown>;

function copyOf(value: unknown): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      return Number.isFinite(value) ? value : NO_COPY;
    case "object":
      return value === null ? null : copyObject(value as Fields);
    default:
      return NO_COPY;
  }
}

function copyObject(value: Fields): unknown {
  if (Array.isArray(value)) return copyAll(value) ?? NO_COPY;
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isMessage = value[MESSAGE] === true;
  if (!isMessage && prototype !== Object.prototype) return NO_COPY;
  const copy = Object.create(prototype) as Fields;
  for (const name of Object.keys(value)) {
    const member = copyOf(value[name]);
    if (member === NO_COPY) return NO_COPY;
    // A name that the prototype has, `__proto__` included, may be a setter there.
    if (name in copy) Object.defineProperty(copy, name, { value: member, ...PLAIN_FIELD });
    else copy[name] = member;
  }
  if (isMessage && Object.hasOwn(value, MESSAGE)) copy[MESSAGE] = true;
  return copy;
}

const PLAIN_FIELD = { writable: true, enumerable: true, configurable: true };

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
