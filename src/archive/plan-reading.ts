/**
 * Whether a file has to be read, and from where.
 *
 * Size and time unchanged means that the file is not even opened: this is the only way in which
 * change is noticed, as opening a hundred thousand files to look would take minutes. A file that grew
 * may be read from where the last reading ended, if what stands before that is still the same.
 */

import type { FoundFile } from "../ingest/files/walk.ts";
import type { IngestedFile } from "../store/ingested-file.ts";

export type ReadingPlan =
  | "unchanged"
  /** From the start. */
  | "whole"
  /** From the known offset, if the hash of what stands before it is the known one. */
  | "rest";

export function planReading(
  file: Pick<FoundFile, "size" | "mtimeUs">,
  known: IngestedFile | undefined,
  { force, unrecognised }: { readonly force: boolean; readonly unrecognised: string },
): ReadingPlan {
  if (known === undefined || force) return "whole";
  // We may know more formats than the last time.
  if (isUnrecognised(known) && known.source !== unrecognised) return "whole";
  if (file.size === known.size && file.mtimeUs === known.mtimeUs) return "unchanged";
  const canGoOn = file.size > known.size && known.tailHash !== null;
  return canGoOn ? "rest" : "whole";
}

/** Whether a file was of no known format when it was opened last. */
export function isUnrecognised({ source }: Pick<IngestedFile, "source">): boolean {
  return source.startsWith("?");
}
