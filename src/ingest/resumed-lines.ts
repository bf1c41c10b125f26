/**
 * Reading a file of lines in several goes: what a later reading must know, as of the last complete
 * line.
 *
 * A last line without its line break is read, because many files end so. A later reading would begin
 * with it again, and with what it has changed. So then there is nothing to go on from: the file is
 * read whole.
 */

import type { JsonObject } from "../model/json.ts";
import type { Line } from "./lines.ts";

export class ResumedLines {
  #isOpen = false;
  readonly #snapshot: () => JsonObject;

  /** `snapshot` gives the reader's own state; it is asked when all is read. */
  constructor(snapshot: () => JsonObject) {
    this.#snapshot = snapshot;
  }

  /** Passes the lines on. */
  async *read(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
    for await (const line of lines) {
      if (!line.ended) this.#isOpen = true;
      yield line;
    }
  }

  /** To be asked when all is read. */
  state(): JsonObject | undefined {
    return this.#isOpen ? undefined : this.#snapshot();
  }
}
