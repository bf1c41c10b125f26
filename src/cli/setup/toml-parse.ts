/**
 * Parses TOML with the position of every table and value: enough to validate a file, read a table,
 * and edit the text without touching the rest. Numbers and dates are kept as written.
 */

import { ConfigError } from "./config-error.ts";

export interface TomlTable {
  /** Empty for the lines before the first header. */
  readonly path: readonly string[];
  readonly isArray: boolean;
  readonly start: number;
  /** After the header's line, without its line break. */
  readonly headerEnd: number;
  readonly keys: TomlKey[];
}

export interface TomlKey {
  readonly path: readonly string[];
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  readonly value: TomlValue;
}

export type TomlValue = string | boolean | TomlRaw | readonly TomlValue[] | TomlInline;
/** A number or a date. */
export interface TomlRaw {
  readonly raw: string;
}
export interface TomlInline {
  readonly pairs: readonly { readonly path: readonly string[]; readonly value: TomlValue }[];
}

/** Throws a `ConfigError`. */
export function parseToml(text: string): TomlTable[] {
  return new Parser(text).parse();
}

const RAW =
  /[+-]?(?:inf|nan|0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?)(?![\w.:-])|\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:[Zz]|[+-]\d\d:\d\d)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?/y;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): TomlTable[] {
    const tables: TomlTable[] = [{ path: [], isArray: false, start: 0, headerEnd: 0, keys: [] }];
    if (this.#text.startsWith("\uFEFF")) this.#at = 1;
    for (;;) {
      this.#skipLines();
      if (this.#at >= this.#text.length) return tables;
      if (this.#text[this.#at] === "[") tables.push(this.#header());
      else tables.at(-1)?.keys.push(this.#pair());
      this.#endOfLine();
    }
  }

  #header(): TomlTable {
    const start = this.#at;
    const isArray = this.#text.startsWith("[[", start);
    this.#at += isArray ? 2 : 1;
    const path = this.#path();
    this.#expect(isArray ? "]]" : "]");
    return { path, isArray, start, headerEnd: this.#at, keys: [] };
  }

  #pair(): TomlKey {
    const start = this.#at;
    const path = this.#path();
    this.#expect("=");
    this.#skipSpaces();
    const valueStart = this.#at;
    const value = this.#value();
    return { path, start, valueStart, end: this.#at, value };
  }

  #path(): string[] {
    const path: string[] = [];
    do {
      this.#skipSpaces();
      path.push(this.#key());
      this.#skipSpaces();
    } while (this.#take("."));
    return path;
  }

  #key(): string {
    const character = this.#text[this.#at];
    if (character === '"' || character === "'") return this.#string(character);
    const [bare] = /^[\w-]+/.exec(this.#text.slice(this.#at, this.#at + 1_000)) ?? [];
    if (bare === undefined) this.#fail("expected a key");
    this.#at += bare.length;
    return bare;
  }

  #value(): TomlValue {
    const character = this.#text[this.#at];
    if (character === '"' || character === "'") {
      return this.#text.startsWith(character.repeat(3), this.#at)
        ? this.#longString(character)
        : this.#string(character);
    }
    if (character === "[") return this.#array();
    if (character === "{") return this.#inline();
    for (const word of ["true", "false"]) if (this.#take(word)) return word === "true";
    RAW.lastIndex = this.#at;
    const [raw] = RAW.exec(this.#text) ?? [];
    if (raw === undefined) this.#fail("expected a value; strings need quotes");
    this.#at += raw.length;
    return { raw };
  }

  #array(): TomlValue[] {
    const values: TomlValue[] = [];
    this.#at++;
    this.#skipLines();
    while (!this.#take("]")) {
      values.push(this.#value());
      this.#skipLines();
      if (this.#take(",")) this.#skipLines();
      else if (this.#text[this.#at] !== "]") this.#fail("expected a comma or ]");
    }
    return values;
  }

  #inline(): TomlInline {
    const pairs: { path: readonly string[]; value: TomlValue }[] = [];
    this.#at++;
    this.#skipLines();
    while (!this.#take("}")) {
      const { path, value } = this.#pair();
      pairs.push({ path, value });
      this.#skipLines();
      if (this.#take(",")) this.#skipLines();
      else if (this.#text[this.#at] !== "}") this.#fail("expected a comma or }");
    }
    return { pairs };
  }

  #string(quote: string): string {
    const start = this.#at;
    for (let i = start + 1; i < this.#text.length && this.#text[i] !== "\n"; i++) {
      if (quote === '"' && this.#text[i] === "\\") i++;
      else if (this.#text[i] === quote) {
        this.#at = i + 1;
        const inner = this.#text.slice(start + 1, i);
        return quote === '"' ? unescaped(inner) : inner;
      }
    }
    return this.#fail("a string is not terminated");
  }

  #longString(quote: string): string {
    const start = this.#at + 3;
    for (let i = start; i < this.#text.length; i++) {
      if (quote === '"' && this.#text[i] === "\\") i++;
      else if (this.#text.startsWith(quote.repeat(3), i)) {
        // Up to two quotes may precede the closing ones.
        while (this.#text[i + 3] === quote) i++;
        this.#at = i + 3;
        const inner = this.#text.slice(start, i).replace(/^\r?\n/, "");
        return quote === '"' ? unescaped(inner.replace(/\\[^\S\n]*\r?\n\s*/g, "")) : inner;
      }
    }
    return this.#fail("a multi-line string is not terminated");
  }

  #endOfLine(): void {
    this.#skipSpaces();
    this.#skipComment();
    if (this.#at < this.#text.length && !/[\r\n]/.test(this.#text[this.#at] ?? "")) {
      this.#fail("unexpected text at the end of the line");
    }
  }

  #skipLines(): void {
    for (;;) {
      while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
      if (this.#text[this.#at] !== "#") return;
      this.#skipComment();
    }
  }

  #skipSpaces(): void {
    while (/[ \t]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #skipComment(): void {
    if (this.#text[this.#at] !== "#") return;
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #expect(token: string): void {
    this.#skipSpaces();
    if (!this.#take(token)) this.#fail(`expected ${token}`);
  }

  #fail(message: string): never {
    throw new ConfigError(message, this.#text, Math.min(this.#at, this.#text.length));
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|(.))/gs,
    (whole, u?: string, long?: string, x?: string, letter?: string) => {
      const hex = u ?? long ?? x;
      if (hex === undefined) return ESCAPES[letter ?? ""] ?? whole;
      const code = Number.parseInt(hex, 16);
      return code > 0x10ffff ? whole : String.fromCodePoint(code);
    },
  );
}
