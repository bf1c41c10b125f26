/** Parses messages and their parts, from files or a database. */

import { isPlainObject } from "../../model/json.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { parseJson } from "../json-file.ts";
import { cutRecord, cutStrings } from "../long/cut-values.ts";
import type { ProblemLog } from "../problems.ts";

/** The kept length of each value when a message exceeds an entry by far. */
const KEPT_LENGTH = 1024;

/** All parts of one message are in memory together: later ones are cut shorter. */
export class MessageParts {
  readonly #problems: ProblemLog;
  #length = 0;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** Undefined if `text` is not an object. */
  parse(text: string, name: string): Record<string, unknown> | undefined {
    const isMuch = this.#length > MAX_CONTENT_BYTES;
    const short = isMuch ? cutStrings(text, KEPT_LENGTH) : cutRecord(text, name, this.#problems);
    if (isMuch && short !== text) {
      this.#problems.add("line_cut", `${name} belongs to a very long message; its values were cut`);
    }
    this.#length += short.length;
    const value = parseJson(short);
    return isPlainObject(value) ? value : undefined;
  }
}
