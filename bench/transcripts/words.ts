/**
 * The content of a synthetic transcript: prose, code and incompressible bytes, deterministic by
 * seed.
 */

import { wordOfRank } from "../search-corpus.ts";
import { randomNumbers } from "../synthetic.ts";

const VOCABULARY = 200_000;
const OWN_WORDS = 200;
const OWN_NAMES = 60;

/** Words by Zipf's law; a third of them are of the session's, or the page's, own two hundred. */
export class Words {
  readonly #random: () => number;
  readonly #own: readonly string[];

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    this.#own = Array.from({ length: OWN_WORDS }, () => this.#word());
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  text(count: number): string {
    const chosen = Array.from({ length: count }, () =>
      this.#random() < 1 / 3 ? this.#own[this.below(OWN_WORDS)] : this.#word(),
    );
    return chosen.join(" ");
  }

  /** A line of a program, or of what one prints: few names, which come again and again. */
  codeLine(): string {
    const name = () => this.#own[this.below(OWN_NAMES)] ?? "";
    const indent = "  ".repeat(this.below(4));
    switch (this.below(8)) {
      case 0:
        return "";
      case 1:
        return `${indent}}`;
      case 2:
        return `${indent}// ${this.text(5 + this.below(8))}.`;
      case 3:
        return `${indent}if (${name()}.${name()} === "${name()}") {`;
      case 4:
        return `${indent}const ${name()} = await this.${name()}.${name()}(${name()}, ${name()});`;
      case 5:
        return `${indent}return ${name()}.map((${name()}) => ${name()}.${name()});`;
      case 6:
        return `${indent}${name()}: ${this.below(10_000)}, ${name()}: "${this.text(2)}",`;
      default:
        return `${indent}expect(${name()}.${name()}).toBe(${name()});`;
    }
  }

  code(lines: number): string[] {
    return Array.from({ length: lines }, () => this.codeLine());
  }

  /** Encrypted data: incompressible. */
  sealed(bytes: number): string {
    const buffer = Buffer.allocUnsafe(bytes);
    for (let i = 0; i < bytes; i++) buffer[i] = this.below(256);
    return buffer.toString("base64");
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.below(16).toString(16)).join("");
  }

  uuid(): string {
    return this.hex(32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }

  #word(): string {
    return wordOfRank(Math.floor(VOCABULARY ** this.#random()) - 1);
  }
}
