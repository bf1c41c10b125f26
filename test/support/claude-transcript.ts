/** Transcripts as Claude Code writes them, for tests that read them while they grow. */

import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Appends a line to the transcript of session `id`, which works in `cwd`. */
export function writeTurn(
  home: string,
  { id, cwd, text, turn = 1 }: { id: string; cwd: string; text: string; turn?: number },
): string {
  const folder = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  const file = join(home, ".claude", "projects", folder, `${id}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const line = {
    type: "user",
    uuid: `${id}-${turn}`,
    sessionId: id,
    cwd,
    isSidechain: false,
    parentUuid: turn === 1 ? null : `${id}-${turn - 1}`,
    userType: "external",
    version: "2.0.0",
    timestamp: new Date().toISOString(),
    message: { role: "user", content: text },
  };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
  return file;
}
