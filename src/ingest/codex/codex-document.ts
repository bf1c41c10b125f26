/**
 * The oldest rollouts of Codex CLI: one JSON object with the session and its items, rewritten with
 * each answer. Its parts are yielded like the lines of later files.
 */

import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/look-ahead.ts";
import { scanObject } from "../json-scan.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";
import type { SourceInput } from "../source.ts";

export function isDocumentPath(path: string): boolean {
  return /\.json(\.(gz|zst))?$/i.test(path);
}

/** How it begins, as Codex writes it. */
const SESSION = /^\s*\{\s*"session"\s*:\s*\{/;

/** Whether a file that begins with `text` is one: its session comes first. */
export function isRolloutDocument(text: string, path: string): boolean {
  if (!SESSION.test(text)) return false;
  // The session holds the agent's instructions, so the items may begin after the head.
  return /"items"\s*:\s*\[/.test(text) || /(^|[/\\])rollout-[^/\\]*$/.test(path);
}

/** The kind of a file, whatever its name; read the returned `input`. */
export async function tellDocument(
  input: SourceInput,
): Promise<{ readonly isDocument: boolean; readonly input: SourceInput }> {
  const ahead = await lookAhead(input, (read) => begins(read).length >= 2);
  return { isDocument: isDocument(begins(ahead.lines), input.path), input: ahead.input };
}

/** The non-empty texts. */
function begins(lines: readonly Line[]): string[] {
  return lines.map(({ text }) => text).filter((text) => text.trim() !== "");
}

function isDocument(texts: readonly string[], path: string): boolean {
  if (SESSION.test(texts.join("\n"))) return true;
  const [first = ""] = texts;
  const has = (name: string) => scanObject(first, name)?.value !== undefined;
  // A first line that is not an object may be part of one, or damaged: then the name decides.
  return scanObject(first) === undefined ? isDocumentPath(path) : has("session") && has("items");
}

/** Yields the session as the first record, then its items. Each rewrite replaces the document. */
export async function* readRollout(
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<JsonRecord> {
  const document = await readDocument(input, "items", problems);
  if (document === undefined) return;
  const { session, items } = isPlainObject(document.frame) ? document.frame : {};
  if (!isPlainObject(session) || !Array.isArray(items)) {
    problems.add("unexpected", "the file is JSON, but not a rollout");
    return;
  }
  let line = 1;
  yield { line, length: 0, record: session };
  for await (const item of document.elements(problems)) {
    line++;
    if (isPlainObject(item)) yield { line, length: 0, record: item };
    else if (item !== undefined) problems.add("unexpected", "an item is not an object", line);
  }
}
