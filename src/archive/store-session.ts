/** Stores one session from a reader under its key, with the metadata known here. */

import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import type { EarlierKeys } from "../engine/import/import-subject.ts";
import type { GitAttributes } from "../ingest/identity/git.ts";
import {
  compositeKey,
  idFromFile,
  projectId,
  sessionInKey,
  uuidInName,
} from "../ingest/identity/session-key.ts";
import { isMasked } from "../ingest/masked-id.ts";
import type { ImportedSession } from "../ingest/source.ts";
import { BackscrollError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { leadRoute } from "./lead-route.ts";
import { findIgnoringRule, type IgnorableSession, toIgnorable } from "./rules/ignoring-rule.ts";
import { INCOGNITO, isIncognito, unmarkIncognito } from "./rules/incognito.ts";
import { SessionFigures } from "./session-figures.ts";

export interface SessionFile {
  /** Empty for a pipe. */
  readonly path: string;
  readonly mtimeUs: number;
  /** Only the part after an earlier reading. */
  readonly isRest: boolean;
  /** The last entry of that reading. */
  readonly last: string | null;
  /** The earlier origin key of the file's only session. */
  readonly key?: string | undefined;
  /** Restores it if it was forgotten. */
  readonly revive: boolean;
  /** The session's index within the file. */
  readonly index: number;
  /** How to import a file that precedes an imported one of its session; see `ImportOptions`. */
  readonly whenLate?: ImportOptions["whenLate"];
  /** The caller holds the session's mutex. */
  readonly hasTurn?: boolean;
  /** Reads the session's files again, in order, if this one is late. */
  readonly readAgain?: (late: ImportResult) => Promise<ImportResult>;
}

export interface StoredSession extends ImportResult {
  /** The rule that keeps it out of the store; absent for all others. */
  readonly ignored?: { readonly rule: string; readonly session: IgnorableSession };
}

export async function storeSession(
  setting: IngestSetting,
  imported: ImportedSession,
  file: SessionFile,
): Promise<StoredSession> {
  const { tenant, workstation, dryRun } = setting;
  const project = projectId(imported.cwd);
  const own = imported.id === null || isMasked(imported.id) ? nameless(file) : imported.id;
  const session = toIgnorable(imported, own);
  // A person who names the file takes the mark of an incognito session back.
  if (file.revive && !dryRun) await unmarkIncognito(tenant, own);
  const rule = await findIgnoringRule(setting, session);
  if (rule !== undefined) {
    // The reader gives the next session after the entries of this one.
    for await (const _ of imported.entries);
    return { ...NOTHING, problems: imported.problems.total, key: own, ignored: { rule, session } };
  }
  const figures = new SessionFigures();
  const mtime = Math.floor(file.mtimeUs / 1000);
  const watched: ImportedSession = { ...imported, entries: figures.watch(imported.entries) };
  const key = compositeKey(workstation, project, own);
  const git = imported.cwd === null ? undefined : await setting.git.find(imported.cwd);
  const metadata = attributes(setting, imported, project, git);
  const store = async () => {
    const result = await tenant.importSession(watched, {
      workstation,
      projectId: project,
      dryRun,
      key,
      metadata,
      earlier: earlierKeys(setting, imported, own, file),
      ...(git?.remote == null ? {} : { repo: git.remote }),
      ...(file.path === "" ? {} : { file: file.path }),
      skipForgotten: !file.revive,
      skipEmpty: true,
      ...(file.last === null ? {} : { after: file.last }),
      describe: (session, title, skipped) =>
        figures.describe(session, title ?? imported.title, {
          mtime,
          isAdded: file.isRest || skipped === 0,
        }),
      onKnown: (entry) => figures.noteKnown(entry),
      ...(file.path === "" || file.whenLate === undefined ? {} : { whenLate: file.whenLate }),
    });
    // Marked while it was being stored.
    if (result.entries > 0 && !dryRun && (await isIncognito(tenant, own, session.parent))) {
      await forgetStored(tenant, result.sessionId);
      return { ...result, ...NOTHING, ignored: { rule: INCOGNITO, session } };
    }
    if (result.sessionId !== null && !dryRun) {
      await leadRoute(tenant, imported, result.sessionId);
    }
    const isLate = result.late !== undefined && file.readAgain !== undefined;
    return isLate ? file.readAgain(result) : result;
  };
  return file.hasTurn ? store() : setting.turns.run(turnOf(own, key), store);
}

const NOTHING = {
  sessionId: null,
  created: false,
  entries: 0,
  skipped: 0,
  last: null,
  forgotten: false,
} as const;

async function forgetStored(
  tenant: IngestSetting["tenant"],
  sessionId: string | null,
): Promise<void> {
  try {
    if (sessionId !== null) await tenant.deleteSession(sessionId, { cascade: true });
  } catch (error) {
    // Whoever set the mark has deleted it, too.
    if (!BackscrollError.is(error, "session_not_found")) throw error;
  }
}

/** Two files of one session have different keys while one of them does not name its project. */
function turnOf(own: string, key: string): string {
  return uuidInName(own) === undefined ? key : own;
}

/** A project may become known after a part is stored: the session continues as the same one. */
function earlierKeys(
  { workstation }: IngestSetting,
  { source, cwd }: ImportedSession,
  own: string,
  { path, key }: SessionFile,
): EarlierKeys {
  const isOwn = key !== undefined && sessionInKey(key) === own;
  return {
    ...(isOwn ? { kept: key } : {}),
    ...(cwd === null ? {} : { replaced: compositeKey(workstation, projectId(null), own) }),
    // An id that is not a UUID may not be unique.
    same: { source, file: uuidInName(own) === undefined ? path : null },
  };
}

function nameless({ path, index }: SessionFile): string {
  if (path !== "") return idFromFile(path) + (index === 0 ? "" : `-${index}`);
  throw new BackscrollError("invalid_input", "the session has no id; name its source file", {
    details: { field: "file" },
  });
}

/** The repository, and the parent session. */
function attributes(
  { workstation }: IngestSetting,
  { parentSession }: ImportedSession,
  project: string,
  git: GitAttributes | undefined,
): JsonObject {
  const parent =
    parentSession === null
      ? {}
      : { parent: { id: parentSession, key: compositeKey(workstation, project, parentSession) } };
  return { ...(git === undefined ? {} : { git: { ...git } }), ...parent };
}
