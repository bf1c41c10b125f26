/**
 * Which lines of a file were taken, from one reading to the next.
 *
 * A last line without a line break may be complete all the same. It is taken at once, and when a
 * later reading begins with it again, it has the same number and is not taken a second time. The
 * numbers are those of the file, whatever was left out on the way: records without ids are known by
 * them.
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

  /** To be asked when all is read. */
  state(): JsonObject {
    return { taken: this.#taken };
  }

  /** Whether the line was not taken before; it is now. */
  take(line: number): boolean {
    if (line <= this.#taken) return false;
    this.#taken = line;
    return true;
  }
}
