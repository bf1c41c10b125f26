/**
 * Change detection by size and mtime: decides whether to read a file, and from which offset.
 *
 * A file of unchanged size and mtime is not opened: opening a hundred thousand files would take
 * minutes. A file that grew is read from the last offset if the hash of the bytes before it still
 * matches.
 */

import type { FoundFile } from "../ingest/files/walk.ts";
import type { IngestedFile } from "../store/ingested-file.ts";

export type ReadingPlan =
  | "unchanged"
  /** From the start. */
  | "whole"
  /** From the known offset, if the hash of the bytes before it matches. */
  | "rest"
  /** A rule still keeps its only session out. */
  | "ignored";

export function planReading(
  file: Pick<FoundFile, "size" | "mtimeUs">,
  known: IngestedFile | undefined,
  { force, unrecognised }: { readonly force: boolean; readonly unrecognised: string },
): ReadingPlan {
  if (known === undefined || force) return "whole";
  // This version may know more formats.
  if (isUnrecognised(known) && known.source !== unrecognised) return "whole";
  if (file.size === known.size && file.mtimeUs === known.mtimeUs) return "unchanged";
  const canGoOn = file.size > known.size && known.tailHash !== null;
  return canGoOn ? "rest" : "whole";
}

/** The source of a file's record if a rule keeps its only session out. */
export function ignoredSource(source: string): string {
  return `!${source}`;
}

export function isIgnored({ source }: Pick<IngestedFile, "source">): boolean {
  return source.startsWith("!");
}

/** Whether a file had no known format when it was last opened. */
export function isUnrecognised({ source }: Pick<IngestedFile, "source">): boolean {
  return source.startsWith("?");
}
