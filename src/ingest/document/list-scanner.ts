/**
 * A streaming structural scanner: finds the byte ranges of the elements of a JSON document's long
 * list.
 *
 * A conversation in one document can exceed memory, and nearly all of it is one list. The scanner
 * tracks only strings and brackets, so it is cheap. The parser validates the elements.
 */

import { endOfString, slashesBefore } from "../json-scan.ts";

/**
 * `begin` is the list's opening bracket, `next` a comma between elements, `end` its closing
 * bracket.
 */
export interface ListMark {
  readonly kind: "begin" | "next" | "end";
  readonly at: number;
}

/**
 * The list is the document itself if it is an array, else its top-level field of the given name.
 */
export class ListScanner {
  readonly #field: string | undefined;
  #depth = 0;
  /** The depth of the list's elements while inside the list; else 0. */
  #listDepth = 0;
  #isString = false;
  /** Whether the last chunk ended with a backslash that escapes the next character. */
  #isEscaped = false;
  /** Whether the string is at the top level: the last before a colon is a field's name. */
  #isName = false;
  #name = "";
  /** Whether the value of the field follows. */
  #isWanted = false;

  /** Without a field, lists are only documents themselves. */
  constructor(field?: string) {
    this.#field = field;
  }

  /**
   * The marks of the next chunk: of text, or of bytes as latin1, because it matches ASCII, which is
   * part of no other character in UTF-8. A repeated name gives two lists.
   */
  *marks(text: string): Generator<ListMark> {
    let at = this.#isString && text !== "" ? this.#goOn(text) : 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#isName = this.#depth === 1 && this.#listDepth === 0 && this.#field !== undefined;
        if (this.#isName) this.#name = "";
        at = this.#passString(text, at + 1, at + 1);
        continue;
      }
      const kind = code === COMMA || code === COLON ? this.#separate(code) : this.#nest(code);
      if (kind !== undefined) yield { kind, at };
      at++;
    }
  }

  #goOn(text: string): number {
    const from = this.#isEscaped ? 1 : 0;
    this.#isEscaped = false;
    return this.#passString(text, 0, from);
  }

  /** The end of the string that began before `start`, searched from `from`. */
  #passString(text: string, start: number, from: number): number {
    const end = endOfString(text, from);
    this.#isString = end < 0;
    // A longer one is another name, however it is escaped.
    if (this.#isName && this.#name.length <= LONGEST_ESCAPE * (this.#field ?? "").length) {
      this.#name += text.slice(start, end < 0 ? text.length : end);
    }
    if (end >= 0) return end + 1;
    this.#isEscaped = slashesBefore(text, text.length, from) % 2 === 1;
    return text.length;
  }

  #separate(code: number): ListMark["kind"] | undefined {
    if (this.#listDepth > 0) {
      return code === COMMA && this.#depth === this.#listDepth ? "next" : undefined;
    }
    if (this.#depth === 1)
      this.#isWanted =
        code === COLON && this.#field !== undefined && isNamed(this.#name, this.#field);
    return undefined;
  }

  #nest(code: number): ListMark["kind"] | undefined {
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      const isField = this.#depth === 1 && this.#isWanted;
      const isList = code === OPEN_LIST && (this.#depth === 0 || isField);
      this.#depth++;
      if (!isList) return undefined;
      this.#listDepth = this.#depth;
      return "begin";
    }
    if (code !== CLOSE_LIST && code !== CLOSE_OBJECT) return undefined;
    const isEnd = this.#depth-- === this.#listDepth && this.#listDepth > 0;
    if (!isEnd) return undefined;
    this.#listDepth = 0;
    return "end";
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The longest escape: a backslash, `u` and four digits. */
const LONGEST_ESCAPE = 6;

/** Whether the raw name equals `field`. */
function isNamed(text: string, field: string): boolean {
  if (!text.includes("\\")) return text === field;
  try {
    return JSON.parse(`"${text}"`) === field;
  } catch {
    // Not JSON: the parser reports it.
    return false;
  }
}
