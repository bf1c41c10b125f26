/** The input and the result of reading a file. */

import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import type { TranscriptFile } from "../ingest/files/open-file.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { Candidate } from "./find-files.ts";
import type { FileOutcome, SessionOutcome } from "./outcome.ts";

/**
 * A longer path than a database's index accepts is not remembered, so its file is read each time.
 */
export const MAX_REMEMBERED_PATH = 2_000;

export interface Ingested {
  readonly outcome: FileOutcome;
  /** The state to remember; undefined if the next run has to read the file again. */
  readonly record?: IngestedFile;
}

export interface FileInput {
  readonly candidate: Candidate;
  readonly known: IngestedFile | undefined;
  readonly plan: "whole" | "rest";
  readonly onSession: (source: string, session: SessionOutcome) => void;
  /** The kept original, if the file is read from there: a copy in a folder with its companions. */
  readonly original?: {
    readonly file: TranscriptFile;
    readonly copy: string;
    readonly root: string;
  };
  /** Set if the file is read because another file of its session was late. */
  readonly again?: AgainInput;
}

export interface AgainInput {
  readonly sessionId: string | null;
  readonly whenLate: ImportOptions["whenLate"];
  /** The import result of that session. */
  result?: ImportResult;
}
