/**
 * Tracks which lines of a file were taken, across readings.
 *
 * A last line without a line break may be complete. It is taken at once, and when a resumed reading
 * begins with it again, it has the same number and is skipped. The numbers are the file's, whatever
 * was skipped: they identify records without ids.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { countField } from "./fields.ts";

export class LineCounter {
  /** The last line that was taken, in this reading or an earlier one. */
  #taken: number;

  constructor(state?: JsonValue) {
    const fields = isPlainObject(state) ? state : {};
    this.#taken = countField(fields, "taken") ?? 0;
  }

  /** Valid after the last line. */
  state(): JsonObject {
    return { taken: this.#taken };
  }

  /** Whether the line is new; marks it as taken. */
  take(line: number): boolean {
    if (line <= this.#taken) return false;
    this.#taken = line;
    return true;
  }
}
