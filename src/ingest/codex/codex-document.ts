/**
 * The oldest rollouts of Codex CLI: one JSON object with the session and the list of its items, written
 * anew with each answer. Its parts are handed out as the lines of later files are.
 */

import { isPlainObject } from "../../model/json.ts";
import { readJson } from "../json-file.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

export function isDocumentPath(path: string): boolean {
  return /\.json(\.(gz|zst))?$/i.test(path);
}

/** Whether a file that begins with `text` is one: its session comes first. */
export function isRolloutDocument(text: string): boolean {
  return /^\s*\{\s*"session"\s*:\s*\{[\s\S]*?"items"\s*:\s*\[/.test(text);
}

/** The session as the first record, then its items. What was written last replaces all before it. */
export async function* readDocument(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<JsonRecord> {
  const value = await readJson(lines, problems);
  if (value === undefined) return;
  const { session, items } = isPlainObject(value) ? value : {};
  if (!isPlainObject(session) || !Array.isArray(items)) {
    problems.add("unexpected", "the file is JSON, but no rollout");
    return;
  }
  yield { line: 1, length: 0, record: session };
  for (const [i, item] of items.entries()) {
    const line = i + 2;
    if (isPlainObject(item)) yield { line, length: 0, record: item };
    else problems.add("unexpected", "an item is no object", line);
  }
}
