/** Properties of one imported entry that an import reads. */

import type { ImportedEntry } from "../../ingest/source.ts";
import { lengthOfBlocks } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { MAX_TITLE_BYTES } from "../../model/limits.ts";
import { combineUsage, totalTokens } from "../../model/usage.ts";
import type { AnswerUsage } from "./answer-usage.ts";
import { toText } from "./import-draft.ts";

export function titleOf({ data }: ImportedEntry): string | undefined {
  const name = data?.["name"];
  return typeof name === "string" ? toText(name, MAX_TITLE_BYTES) : undefined;
}

export function withOwnUsage(entry: ImportedEntry, answers: AnswerUsage): ImportedEntry {
  if (entry.answer === undefined || entry.usage === null) return entry;
  const usage = answers.take(entry.answer, entry.usage);
  return usage === entry.usage ? entry : { ...entry, usage };
}

export function noteStored(entry: ImportedEntry, stored: Usage | null, answers: AnswerUsage): void {
  if (entry.answer !== undefined) answers.found(entry.answer, entry.usage, stored);
}

/** The usage of a new version: what the stored ones do not count yet. Parts of an answer share it. */
export function usageBeyond(
  { answer }: ImportedEntry,
  read: Usage | null,
  stored: Usage | null,
): Usage | null {
  if (read === null || stored === null) return answer === undefined ? read : null;
  const more = combineUsage(read, stored, (a, b) => Math.max(0, a - b));
  return answer === undefined && totalTokens(more) > 0 ? more : null;
}

/** Approximate bytes in memory. */
export function sizeOf(entry: ImportedEntry): number {
  return 200 + lengthOfBlocks(entry.blocks);
}

/** The source ids that it names: its parent, and those in its data. */
export function sourcesIn({ parentSourceId, references = [], data }: ImportedEntry): string[] {
  const named = [parentSourceId, ...references.map((name) => data?.[name])];
  return named.filter((each) => typeof each === "string");
}
