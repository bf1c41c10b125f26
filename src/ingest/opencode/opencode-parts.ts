/** Messages and their parts as they are parsed, from files or from a database. */

import { isPlainObject } from "../../model/json.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { parseJson } from "../json-file.ts";
import { cutRecord, cutStrings } from "../long/cut-values.ts";
import type { ProblemLog } from "../problems.ts";

/** How much of each value is kept when a message has much more than an entry may. */
const KEPT_LENGTH = 1024;

/** The parts of one message are in memory together, however many it has: the later ones are cut shorter. */
export class MessageParts {
  readonly #problems: ProblemLog;
  #length = 0;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** Undefined if `text` is no object. */
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
