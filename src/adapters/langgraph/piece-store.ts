/** Pieces: the bytes of channel values, in one immutable record each, with an LRU cache. */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { type Line, valueKey } from "./keys.ts";
import type { Serializer } from "./sdk-types.ts";

/** A piece as a checkpoint's record names it. */
export type Piece = readonly [
  id: string,
  bytes: number,
  /** The name of the serializer's form. */
  type: string,
  /** When it was written, in seconds. */
  at: number,
  /** The number of members of the list; 1 for a whole value. */
  count: number,
  /** The number of merges that its members went through. */
  tier: number,
];

interface Held {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** A copy of the members, for comparisons and for callers; undefined if they cannot be copied. */
  readonly copy: FlatCopy | undefined;
}

export interface Draft {
  readonly piece: Piece;
  readonly held: Held;
}

/** Bytes per read. */
const READ_BYTES = 8 * 1024 * 1024;

export class PieceStore {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #serde: Serializer;
  readonly #cacheBytes: number;
  readonly #cache = new Map<string, Held>();
  #cachedBytes = 0;

  constructor(records: RecordsApi, namespace: string, serde: Serializer, cacheBytes: number) {
    this.#records = records;
    this.#namespace = namespace;
    this.#serde = serde;
    this.#cacheBytes = cacheBytes;
  }

  /** A new piece of some members of a list, or of a whole value. */
  async draft(members: readonly unknown[], isWhole: boolean, at: number): Promise<Draft> {
    const [type, bytes] = await this.#serde.dumpsTyped(isWhole ? members[0] : members);
    const held = { type, bytes, copy: toFlatCopy(members) };
    return { piece: [newPieceId(), bytes.length, type, at, members.length, 0], held };
  }

  toWrite(line: Line, { piece: [id], held }: Draft, ttl: number | undefined): RecordOperation {
    const key = valueKey(line, id);
    return { put: { namespace: this.#namespace, key, value: held.bytes, ttl: ttl ?? null } };
  }

  remember(line: Line, { piece: [id], held }: Draft): void {
    this.#hold(valueKey(line, id), held);
  }

  /**
   * Whether a piece holds the `count` members of a list from `start` on, by comparison with the
   * copy or of the serialised bytes.
   */
  async isSame(
    { type, bytes, copy }: Held,
    list: readonly unknown[],
    start: number,
    count: number,
  ): Promise<boolean> {
    if (copy !== undefined) return isAsCopied(list, start, count, copy);
    const [ownType, own] = await this.#serde.dumpsTyped(list.slice(start, start + count));
    return ownType === type && Buffer.compare(own, bytes) === 0;
  }

  /** The members of a piece as new values, which the caller may change. */
  async members({ type, bytes, copy }: Held, isWhole: boolean): Promise<readonly unknown[]> {
    if (copy !== undefined) return fromFlatCopy(copy);
    const value: unknown = await this.#serde.loadsTyped(type, bytes);
    return isWhole ? [value] : (value as readonly unknown[]);
  }

  /** The values of the pieces, by id: cached ones, and the others read and deserialized. */
  async hold(line: Line, pieces: readonly Piece[]): Promise<ReadonlyMap<string, Held>> {
    const found = new Map<string, Held>();
    const missing: Piece[] = [];
    for (const piece of pieces) {
      const held = this.#recall(valueKey(line, piece[0]));
      if (held === undefined) missing.push(piece);
      else found.set(piece[0], held);
    }
    for (const group of grouped(missing)) {
      const keys = group.map(([id]) => valueKey(line, id));
      const records = await this.#records.getMany(this.#namespace, keys);
      for (const [i, piece] of group.entries()) {
        const record = records[i];
        const [id, , type] = piece;
        if (record === undefined) throw pieceMissing(line, keys[i] as string);
        const held = await this.#read(record.value as Uint8Array, type, piece);
        this.#hold(keys[i] as string, held);
        found.set(id, held);
      }
    }
    return found;
  }

  forget(prefix: string): void {
    for (const [key, { bytes }] of this.#cache) {
      if (!key.startsWith(prefix)) continue;
      this.#cache.delete(key);
      this.#cachedBytes -= bytes.length;
    }
  }

  async #read(bytes: Uint8Array, type: string, [, , , , count, tier]: Piece): Promise<Held> {
    const value: unknown = await this.#serde.loadsTyped(type, bytes);
    const members = tier === WHOLE ? [value] : value;
    const isList = Array.isArray(members) && members.length === count;
    return { type, bytes, copy: isList ? toFlatCopy(members) : undefined };
  }

  #recall(key: string): Held | undefined {
    const held = this.#cache.get(key);
    if (held === undefined) return undefined;
    this.#cache.delete(key);
    this.#cache.set(key, held);
    return held;
  }

  #hold(key: string, held: Held): void {
    if (held.bytes.length > this.#cacheBytes || this.#cache.has(key)) return;
    this.#cache.set(key, held);
    this.#cachedBytes += held.bytes.length;
    for (const [oldest, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= this.#cacheBytes) return;
      this.#cache.delete(oldest);
      this.#cachedBytes -= bytes.length;
    }
  }
}

/** The tier of a value that is no list. */
export const WHOLE = -1;

/** 96 random bits: unique within a thread. */
export function newPieceId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("base64url");
}

function grouped(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const group = groups.at(-1);
    bytes += piece[1];
    if (group === undefined || group.length === MAX_PAGE || bytes > READ_BYTES) {
      groups.push([piece]);
      bytes = piece[1];
    } else group.push(piece);
  }
  return groups;
}

function pieceMissing({ thread, ns }: Line, key: string): BackscrollError {
  return new BackscrollError(
    "record_not_found",
    `a value of thread ${thread} is gone: its checkpoint was pruned or has expired meanwhile; read the thread again`,
    { details: { thread, ns, key } },
  );
}

// Copies of plain values and of LangChain's messages, each as a flat list of its parts.
//
// LangGraph's serializer takes 15 to 200 µs a message; a copy, and a comparison with one, take less
// than one. A value of any other class is not copied. The parts of an object are its prototype, its
// names and values in their order, and `END`; those of a list are `LIST`, its length and its
// members. So a comparison reads the list once, from its start to its end.

/** The brand of LangChain's messages. */
const MESSAGE = Symbol.for("langchain.message");

const LIST = Symbol("list");
const END = Symbol("end");

type FlatCopy = readonly unknown[];

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
