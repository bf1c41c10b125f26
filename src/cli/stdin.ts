/** Text from a pipe. */

import { BackscrollError } from "../model/errors.ts";
import { MAX_BATCH_BYTES } from "../model/limits.ts";
import { usageError } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The text of an argument, or of standard input when it is `-` or left out. One final newline is
 * removed, which `echo` and editors add.
 */
export async function readText(argument: string | undefined, terminal: Terminal): Promise<string> {
  if (argument !== undefined && argument !== "-") return argument;
  if (process.stdin.isTTY) {
    terminal.note("Reading from standard input; end it with Ctrl-D on a line of its own.");
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BATCH_BYTES) {
      throw new BackscrollError(
        "too_large",
        `standard input has more than ${MAX_BATCH_BYTES} bytes; append in several calls`,
        { details: { field: "stdin", limit: MAX_BATCH_BYTES, actual: bytes } },
      );
    }
  }
  return decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError("standard input is not UTF-8 text; convert it first", "stdin");
  }
}
