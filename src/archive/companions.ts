/**
 * Companion files of a transcript: the log of a database, a folder with a file per message. They
 * change while the transcript itself does not, so their sizes and times are added to the
 * transcript's for change detection.
 */

import { stat } from "node:fs/promises";
import { sumFolder } from "../ingest/files/file-access.ts";
import { type FoundFile, mtimeUsOf } from "../ingest/files/walk.ts";
import type { TranscriptSource } from "../ingest/source.ts";

/** Size and time of a file, or the sum of several. */
export type FileSum = Pick<FoundFile, "size" | "mtimeUs">;

const NOTHING: FileSum = { size: 0, mtimeUs: 0 };

/** The sum of the companions of `file`, if it is a transcript of `source`. */
export async function sumBeside(
  source: TranscriptSource | undefined,
  file: Pick<FoundFile, "path" | "root">,
): Promise<FileSum> {
  // New rows of a database are in its write-ahead log, while the file itself is unchanged.
  if (source?.container === "database") return sumFile(`${file.path}-wal`);
  let sum = NOTHING;
  for (const { folder, matches } of source?.companions?.(file.path) ?? []) {
    sum = addSums(sum, await sumFolder(file, folder, matches));
  }
  return sum;
}

export function addSums(a: FileSum, b: FileSum): FileSum {
  return { size: a.size + b.size, mtimeUs: Math.max(a.mtimeUs, b.mtimeUs) };
}

async function sumFile(path: string): Promise<FileSum> {
  try {
    const facts = await stat(path);
    return { size: facts.size, mtimeUs: mtimeUsOf(facts) };
  } catch {
    // Missing.
    return NOTHING;
  }
}
