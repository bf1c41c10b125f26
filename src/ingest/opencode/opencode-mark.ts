/** The mark of an export from our own session: opencode keeps it in the metadata of parts. */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import type { Fields } from "../fields.ts";

/** The copy mark of a message's parts, or of a tool's state. */
export function copyMarkOf(parts: readonly Fields[]): JsonObject {
  for (const { metadata } of parts) {
    const mark = isPlainObject(metadata) ? markField(metadata) : undefined;
    if (mark !== undefined) return { [COPY_MARK]: mark };
  }
  return {};
}
