/** The text of a file as it comes, for readers whose lines are longer than lines may be. */

import { createReadStream } from "node:fs";
import type { ProblemLog } from "./problems.ts";

export async function* readFileText(path: string, problems: ProblemLog): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      yield decoder.decode(chunk as Uint8Array, { stream: true });
    }
  } catch (cause) {
    problems.add("unexpected", `the file cannot be read: ${(cause as Error).message}`);
  }
  yield decoder.decode();
}
