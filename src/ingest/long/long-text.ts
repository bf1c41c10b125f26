/**
 * A message of a plain-text format: lines, up to the heading of the next message.
 *
 * A file without headings is a single message of any length. An entry can hold 8 MiB. Of a longer
 * message the head is kept, and the rest is only counted.
 */

import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import type { ProblemLog } from "../problems.ts";

/** Kept characters of a text that exceeds its entry. */
export const CUT_LENGTH: number = 1024 * 1024;

/** The mark at the end of a cut text. */
export function cutNote(characters: number): string {
  return `\n[cut: ${characters} more characters]`;
}

/** In characters. */
export interface TextLimits {
  /** The limit of a text; each character takes at least a byte. */
  readonly whole: number;
  /** The kept length of a longer text. */
  readonly cut: number;
}

const LIMITS: TextLimits = { whole: MAX_CONTENT_BYTES, cut: CUT_LENGTH };

/** Short lines take several times their length, so they are joined in groups. */
const LINES = 1024;

export class LongText {
  readonly #problems: ProblemLog;
  readonly #limits: TextLimits;
  /** Joined lines, and those not joined yet. */
  #parts: string[] = [];
  #lines: string[] = [];
  /** Characters added, with a line break per line. */
  #length = 0;
  #isCut = false;
  #firstLine: number | undefined;

  constructor(problems: ProblemLog, limits: TextLimits = LIMITS) {
    this.#problems = problems;
    this.#limits = limits;
  }

  /** Characters held. */
  get held(): number {
    return this.#isCut ? this.#limits.cut : this.#length;
  }

  /** `number` is the line's own. */
  add(line: string, number: number): void {
    this.#firstLine ??= number;
    this.#length += line.length + 1;
    if (this.#isCut) return;
    const isTooLong = this.#length - 1 > this.#limits.whole;
    // A sliced string would keep the rest of a cut line in memory.
    this.#lines.push(isTooLong ? line.slice(0, this.#limits.cut) : line);
    if (isTooLong) this.#cut();
    else if (this.#lines.length === LINES) this.#join();
  }

  /** Gives the text and starts another. `clean` runs before the mark is added. */
  take(clean: (text: string) => string = (text) => text.trim()): string {
    this.#join();
    const text = clean(this.#parts.join("\n"));
    const characters = this.#length - 1;
    const line = this.#firstLine;
    const isCut = this.#isCut;
    this.#parts = [];
    this.#length = 0;
    this.#isCut = false;
    this.#firstLine = undefined;
    if (!isCut) return text;
    const message = `a message of ${characters} characters was shortened`;
    this.#problems.add("entry_cut", message, line);
    return `${text}${cutNote(characters - this.#limits.cut)}`;
  }

  #join(): void {
    if (this.#lines.length === 0) return;
    this.#parts.push(this.#lines.join("\n"));
    this.#lines = [];
  }

  #cut(): void {
    this.#join();
    this.#parts = [this.#parts.join("\n").slice(0, this.#limits.cut).toWellFormed()];
    this.#isCut = true;
  }
}
