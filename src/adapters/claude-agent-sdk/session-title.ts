/** The title of a session, from the lines of its transcript. */

import { MAX_TITLE_BYTES } from "../../model/limits.ts";
import { titleOfRequest } from "../../transcript/title/request-title.ts";
import { requestOf } from "./entry-mapping.ts";
import type { ClaudeEntry } from "./sdk-types.ts";

/** Ranks ascend: a title derived from a request, a model's, the user's. */
export interface RankedTitle {
  readonly title: string;
  readonly rank: 1 | 2 | 3;
}

const FIELDS: Readonly<Record<string, readonly [string, 2 | 3]>> = {
  "ai-title": ["aiTitle", 2],
  "custom-title": ["customTitle", 3],
};

/** The best title of some lines that is not below `rank`, the last of equals; undefined if none. */
export function titleOf(lines: readonly ClaudeEntry[], rank: number): RankedTitle | undefined {
  let best: RankedTitle | undefined;
  for (const line of lines) {
    const found = titleOfLine(line, Math.max(rank, best?.rank ?? 0));
    if (found !== undefined) best = found;
  }
  return best;
}

function titleOfLine(line: ClaudeEntry, rank: number): RankedTitle | undefined {
  const [field, own] = FIELDS[line.type] ?? [];
  if (field === undefined || own === undefined) {
    // The first request names the subject.
    const made = rank > 0 ? undefined : titleOfRequest(requestOf(line) ?? "");
    return made === undefined ? undefined : { title: made.title, rank: 1 };
  }
  const title = line[field];
  if (typeof title !== "string" || title.trim() === "" || own < rank) return undefined;
  // A UTF-16 unit takes at most three bytes.
  return { title: title.trim().slice(0, MAX_TITLE_BYTES / 4), rank: own };
}
