/**
 * The head of a file as formats look at it: its text, and the objects of its first lines. Two dozen
 * formats look at one head: each of these is made once, when the first of them asks for it.
 */

import { isPlainObject } from "../model/json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A damaged or foreign first line does not hide the format. */
const LOOKED_AT = 20;

class Head {
  readonly text: string;
  readonly #lines: readonly string[];
  readonly #records = new Map<string, Fields | undefined>();

  constructor(bytes: Uint8Array) {
    this.text = new TextDecoder("utf-8").decode(bytes).trimStart();
    this.#lines = this.text.split("\n", LOOKED_AT);
  }

  *records(): Generator<Fields> {
    for (const line of this.#lines) {
      const record = this.#read(line);
      if (record !== undefined) yield record;
    }
  }

  first(): Fields | undefined {
    return this.#read(this.#lines[0] ?? "");
  }

  #read(line: string): Fields | undefined {
    if (!this.#records.has(line)) this.#records.set(line, tryRecord(line));
    return this.#records.get(line);
  }
}

function tryRecord(line: string): Fields | undefined {
  // A list takes longer to parse than all else, and is no record.
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isPlainObject(value) ? value : undefined;
  } catch {
    // Another form, or truncated: the caller checks the text itself.
    return undefined;
  }
}

const HEADS = new WeakMap<Uint8Array, Head>();

function headOf(bytes: Uint8Array): Head {
  const known = HEADS.get(bytes) ?? new Head(bytes);
  HEADS.set(bytes, known);
  return known;
}

/** The head's text, without white space before it; bytes that are not UTF-8 are replaced. */
export function textOfHead(head: Uint8Array): string {
  return headOf(head).text;
}

/** The objects in the first lines, without those that are damaged or unfinished. */
export function recordsOfHead(head: Uint8Array): Iterable<Fields> {
  return headOf(head).records();
}

/** The object in the first line that is not empty. */
export function firstRecord(head: Uint8Array): Fields | undefined {
  return headOf(head).first();
}
