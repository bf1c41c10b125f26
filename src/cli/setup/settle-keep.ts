/** How long conversations are kept: asked for once. */

import { loadConfig } from "../../gateway/config/read-config.ts";
import { KEEP } from "../../gateway/config/settings.ts";
import type { Environment } from "../../ingest/source.ts";
import { editConfig } from "./config-file.ts";
import { setJson } from "./jsonc-edit.ts";

/** Says once that the archive keeps what agents delete, and asks for how long. */
const QUESTION =
  "Backscroll keeps conversations also when the agents delete theirs (Claude Code after 30 days). For how long after the last message: f = for ever, y = a year, 90d = 90 days, or another such time?";

const ANSWERS: Readonly<Record<string, string>> = { "": "forever", f: "forever", y: "365d" };

export interface Kept {
  /** As in the configuration: `forever`, or such as `90d`. */
  readonly keep: string;
  readonly path: string;
}

/**
 * Undefined if the configuration says it already. Without `ask` the default holds, and nothing is
 * written.
 */
export async function settleKeep(
  { home, variables }: Environment,
  ask: ((question: string) => Promise<string>) | undefined,
): Promise<Kept | undefined> {
  const { path, settings } = loadConfig(home, variables);
  if (settings.some(({ key, from }) => key === "keep" && from === "file")) return undefined;
  if (ask === undefined) return { keep: "forever", path };
  for (;;) {
    const answer = (await ask(QUESTION)).trim();
    const keep = ANSWERS[answer.toLowerCase()] ?? answer;
    if (KEEP.read(keep) === undefined) continue;
    const edit = (text: string | undefined) => setJson(text ?? "", ["keep"], keep);
    await editConfig(path, edit, { copySuffix: () => undefined });
    return { keep, path };
  }
}
