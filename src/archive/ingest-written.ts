/** Ingests a transcript that is no file, such as one of a repository: writes it to one first. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TranscriptFile } from "../ingest/files/open-file.ts";
import type { ProblemLog } from "../ingest/problems.ts";
import { messageOf } from "../model/errors.ts";
import type { Candidate } from "./candidate.ts";
import { type FileInput, type Ingested, ingestFile } from "./ingest-file.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { joinProblems, outcomeOf } from "./outcome.ts";

/** Throws only failures of the store. */
export async function ingestWritten(
  setting: IngestSetting,
  input: FileInput,
  write: NonNullable<Candidate["write"]>,
): Promise<Ingested> {
  const { file } = input.candidate;
  const root = await mkdtemp(join(tmpdir(), "backscroll-transcript-"));
  try {
    const copy = join(root, "transcript");
    let problems: ProblemLog;
    try {
      // Its size is not known before.
      problems = await setting.unmeasured.take(() => write(copy));
    } catch (error) {
      return { outcome: outcomeOf(file.path, "unreadable", messageOf(error)) };
    }
    const opened = await TranscriptFile.open(copy, { as: file }).catch(() => undefined);
    if (opened !== undefined && opened.size > 0) {
      const original = { file: opened, copy, root, problems };
      return await ingestFile(setting, { ...input, original });
    }
    await opened?.close();
    const outcome = outcomeOf(file.path, "unreadable", "nothing of it is in this clone");
    return { outcome: { ...outcome, ...joinProblems(problems) } };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
