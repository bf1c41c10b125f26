/** A file to check, in an agent's folder or as the caller named it, or a transcript of a repository. */

import type { FoundFile } from "../ingest/files/walk.ts";
import type { ProblemLog } from "../ingest/problems.ts";
import type { TranscriptSource } from "../ingest/source.ts";

export interface Candidate {
  readonly file: FoundFile;
  /** The source whose place contains it: its most likely format. */
  readonly hint: TranscriptSource | undefined;
  /** The root of that place, as the source names it. */
  readonly place?: string;
  /** The caller named this file. */
  readonly named: boolean;
  /** Set if it came with a named repository: its words are foreign, whatever its path. */
  readonly repository?: { readonly remote: string | null };
  /**
   * Of a transcript that is no file: writes it to one. Gives what could not be read of it; it writes
   * none if that is everything.
   */
  readonly write?: (to: string) => Promise<ProblemLog>;
}
