/**
 * Lenient decoding, for the index and the windows of hits: damaged content is empty. All other reads
 * verify hashes.
 */

import type { JsonObject } from "../../model/json.ts";
import { blobsOf, type Content, decodeContent } from "../../transcript/content.ts";

type Decoded = Content & { readonly truncated: boolean };

const NOTHING: Decoded = { blocks: [], data: null, truncated: false };

/** As `decodeContent`; empty for damaged content. */
export function decodeSound(
  content: string,
  blob: (hash: string) => Uint8Array | undefined,
): Decoded {
  return unlessDamaged(() => decodeContent(content, blob), NOTHING);
}

/** Whether the payloads of a content can be read. */
export function isSound(content: string | null): boolean {
  return unlessDamaged(() => content === null || blobsOf(content).length >= 0, false);
}

/** As `JSON.parse` of an object. */
export function parseSound(text: string): JsonObject {
  return unlessDamaged(() => (JSON.parse(text) ?? {}) as JsonObject, {});
}

/** `otherwise` for JSON that does not parse, or has another shape. */
function unlessDamaged<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return otherwise;
    throw error;
  }
}
