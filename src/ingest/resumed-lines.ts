/**
 * Resumable reading of a file of lines: the state as of the last complete line.
 *
 * A last line without a line break is read, because many files end so. A later reading would read
 * it twice, so then there is no resume state and the file is read as a whole.
 */

import { isPlainObject, type JsonObject } from "../model/json.ts";
import { type Batched, mapBatches } from "./batches.ts";
import type { Fields } from "./fields.ts";
import type { Line } from "./lines.ts";

/** A session's header, which a resumed reading does not meet again. */
export class KnownSession {
  /** Empty until the reader has set it. */
  fields: Fields;
  readonly lines: ResumedLines;

  /** `records` reads all other lines. */
  constructor(resume: JsonObject | undefined, records: { state(): JsonObject | undefined }) {
    const kept = resume?.["session"];
    this.fields = isPlainObject(kept) ? kept : {};
    this.lines = new ResumedLines(() => {
      const state = records.state();
      return state === undefined
        ? undefined
        : { session: this.fields as JsonObject, records: state };
    });
  }

  get isNew(): boolean {
    return Object.keys(this.fields).length === 0;
  }
}

export class ResumedLines {
  #isOpen = false;
  readonly #snapshot: () => JsonObject | undefined;

  /** `snapshot` gives the reader's own state after the last line, if it can be resumed. */
  constructor(snapshot: () => JsonObject | undefined) {
    this.#snapshot = snapshot;
  }

  /** Passes the lines on. */
  read(lines: AsyncIterable<Line>): Batched<Line> {
    const note = (line: Line) => {
      if (!line.ended) this.#isOpen = true;
      return line;
    };
    return mapBatches(lines, function* (batch) {
      for (const line of batch) yield note(line);
    });
  }

  /** Valid after the last line. */
  state(): JsonObject | undefined {
    return this.#isOpen ? undefined : this.#snapshot();
  }
}
