/**
 * Reading a file of lines in several goes: what a later reading must know, as of the last complete
 * line.
 *
 * A last line without its line break is read, because many files end so. But a later reading begins
 * with it again, so nothing that it changed may be in the state.
 */

import type { JsonObject } from "../model/json.ts";
import { countField } from "./fields.ts";
import type { Line } from "./lines.ts";

export class ResumedLines {
  #complete: number;
  #atTorn: JsonObject | undefined;
  readonly #snapshot: () => JsonObject;

  /** `snapshot` gives the reader's own state; it is asked between two lines. */
  constructor(resume: JsonObject | undefined, snapshot: () => JsonObject) {
    this.#complete = countField(resume ?? {}, "lines") ?? 0;
    this.#snapshot = snapshot;
  }

  /** The lines with their numbers in the whole file. Each must be dealt with before the next. */
  async *read(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
    for await (const line of lines) {
      if (!line.ended) this.#atTorn = this.state();
      yield { ...line, number: this.#complete + 1 };
      if (line.ended) this.#complete++;
    }
  }

  state(): JsonObject {
    return this.#atTorn ?? { ...this.#snapshot(), lines: this.#complete };
  }
}
