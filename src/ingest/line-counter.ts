/**
 * Numbers of lines that go on from one reading of a file to the next, for formats whose records have
 * no ids: there a record is known by its line.
 *
 * A last line without a line break may be complete all the same. It is taken at once, and when a
 * later reading begins with it again, it has the same number and is not taken a second time.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { countField } from "./fields.ts";
import type { Line } from "./lines.ts";

export class LineCounter {
  /** Lines that ended with a line break. */
  #ended: number;
  /** The last line that was taken, in this reading or an earlier one. */
  #taken: number;

  constructor(state?: JsonValue) {
    const fields = isPlainObject(state) ? state : {};
    this.#ended = countField(fields, "ended") ?? 0;
    this.#taken = countField(fields, "taken") ?? 0;
  }

  /** To be asked when all is read. */
  state(): JsonObject {
    return { ended: this.#ended, taken: this.#taken };
  }

  /** The lines with their numbers in the file, wherever the reading begins. */
  async *number(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
    let number = this.#ended;
    for await (const line of lines) {
      number++;
      if (line.ended) this.#ended = number;
      yield { ...line, number };
    }
  }

  /** Whether the line was not taken before; it is now. */
  take(line: number): boolean {
    if (line <= this.#taken) return false;
    this.#taken = line;
    return true;
  }
}
