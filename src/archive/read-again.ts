/**
 * Imports a session again from all of its files, because one of them came late: it was found after
 * a later one, or grew after it.
 *
 * The session and its entries keep their ids. Its files are marked unread first, so the next run
 * repairs an interrupted re-import.
 */

import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import type { ProblemLog } from "../ingest/problems.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { IngestSetting } from "./ingest-setting.ts";

/** Reads and stores one file of the session, whole; undefined if unreadable. */
export type ReadOne = (
  path: string,
  whenLate: ImportOptions["whenLate"],
) => Promise<{ readonly result: ImportResult; readonly record?: IngestedFile } | undefined>;

export interface LateSession {
  /** The file that is late. */
  readonly path: string;
  readonly result: ImportResult;
  readonly problems: ProblemLog;
}

export async function readAgain(
  setting: IngestSetting,
  { path, result, problems }: LateSession,
  exists: (path: string) => Promise<boolean>,
  readOne: ReadOne,
): Promise<ImportResult> {
  const files = result.late ?? [];
  const there = await Promise.all(files.map(exists));
  const others = files.filter((file) => file !== path);
  if (there.every(Boolean)) {
    await forgetReading(setting, others);
    const records: IngestedFile[] = [];
    const [first = path, ...rest] = files;
    const begun = await readOne(first, "anew");
    if (begun !== undefined && begun.result.late === undefined) {
      let own = first === path ? begun.result : undefined;
      if (begun.record !== undefined) records.push(begun.record);
      for (const file of rest) {
        const read = await readOne(file, undefined);
        if (file === path) own = read?.result;
        if (read?.record !== undefined) records.push(read.record);
      }
      const { tenant, workstation } = setting;
      const known = records.filter((record) => record.path !== path);
      if (known.length > 0) await tenant.putIngestedFiles(workstation, known);
      return { ...(own ?? begun.result), created: false };
    }
  }
  const aside = await readOne(path, "aside");
  problems.add(
    "late_file",
    `${path} precedes the stored part of its session, which cannot be read again as a whole; its messages are a branch off the active path`,
  );
  return aside?.result ?? result;
}

/** Clears their recorded mtimes, so that the next scan reads them. */
async function forgetReading(
  { tenant, workstation }: IngestSetting,
  paths: readonly string[],
): Promise<void> {
  const known = await tenant.findIngestedFiles(workstation, paths, { withState: false });
  if (known.length === 0) return;
  await tenant.putIngestedFiles(
    workstation,
    known.map((file) => ({ ...file, mtimeUs: 0, tailHash: null, state: null })),
  );
}
