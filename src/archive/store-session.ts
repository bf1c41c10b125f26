/** Stores one session from a reader under its key, with the metadata known here. */

import { dirname, relative } from "node:path";
import type { ImportResult } from "../engine/import/import-session.ts";
import type { EarlierKeys, ImportOptions } from "../engine/import/import-subject.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { isInside } from "../ingest/files/file-access.ts";
import { isMasked } from "../ingest/fingerprint.ts";
import type { GitAttributes } from "../ingest/identity/git.ts";
import {
  compositeKey,
  idFromFile,
  projectId,
  sessionInKey,
  uuidInName,
} from "../ingest/identity/identity.ts";
import type { ImportedSession } from "../ingest/source.ts";
import { defined } from "../model/defined.ts";
import { BackscrollError, ignoring } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Provenance } from "../model/session.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { findIgnoringRule, type IgnorableSession, toIgnorable } from "./rules/archive-rules.ts";
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
  /** A person named it, or a folder with it: it was not found in a folder of the agent's. */
  readonly isNamed: boolean;
  /** Set if it came with a named repository. */
  readonly repository?: { readonly remote: string | null } | undefined;
  /** Restores it if it was forgotten. */
  readonly revive: boolean;
  /** The session's index within the file. */
  readonly index: number;
  /** Set if the file is read because a file of its session was late; then the caller has its turn. */
  readonly again?: Rereading | undefined;
  /** Reads the session's files again, in order, if this one is late. */
  readonly onLate?: ((late: ImportResult) => Promise<ImportResult>) | undefined;
}

/** A file is read again for one of its sessions. */
export interface Rereading {
  readonly sessionId: string | null;
  readonly whenLate: ImportOptions["whenLate"];
  /** The import result of that session. */
  result?: ImportResult;
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
  const repo = imported.repo ?? file.repository?.remote ?? undefined;
  const session = toIgnorable({ ...imported, ...defined({ repo }) }, own);
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
  const { again, onLate } = file;
  const whenLate = again === undefined ? onLate && "refuse" : again.whenLate;
  const store = async () => {
    const result = await tenant.importSession(watched, {
      workstation,
      projectId: project,
      dryRun,
      key,
      metadata,
      earlier: earlierKeys(setting, imported, own, file),
      provenance: await provenanceOfFile(setting, file),
      ...defined({ repo: git?.remote ?? file.repository?.remote ?? undefined }),
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
      ...(whenLate === undefined ? {} : { whenLate }),
    });
    // Marked while it was being stored.
    if (result.entries > 0 && !dryRun && (await isIncognito(tenant, own, session.parent))) {
      await forgetStored(tenant, result.sessionId);
      return { ...result, ...NOTHING, ignored: { rule: INCOGNITO, session } };
    }
    if (result.sessionId !== null && !dryRun) {
      await importRoute(tenant, imported, result.sessionId);
    }
    return again === undefined && result.late !== undefined ? (onLate?.(result) ?? result) : result;
  };
  return again !== undefined ? store() : setting.turns.run(turnOf(own, key), store);
}

/**
 * A file in a repository came with it, whoever names it here: foreign. What agents left in their own
 * folders, and what a person named elsewhere, is the person's own.
 */
async function provenanceOfFile(
  { git, environment }: IngestSetting,
  { path, isNamed, repository }: Pick<SessionFile, "path" | "isNamed" | "repository">,
): Promise<Provenance> {
  if (repository !== undefined) return "foreign";
  if (!isNamed || path === "") return "own";
  // `.claude`, `.codex` and the like, also where the home is a repository of its own.
  if (isInside(path, environment.home) && relative(environment.home, path).startsWith(".")) {
    return "own";
  }
  return (await git.find(dirname(path))) === undefined ? "own" : "foreign";
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
  if (sessionId === null) return;
  // Whoever set the mark may have deleted it, too.
  await ignoring("session_not_found", () => tenant.deleteSession(sessionId, { cascade: true }));
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

/**
 * Imports the routes of a gateway along with its transcripts: its list maps keys to current
 * sessions.
 *
 * A key that leads to a session of another origin is in use here and stays as it is.
 */
async function importRoute(
  tenant: TenantApi,
  { route, source, problems }: ImportedSession,
  sessionId: string,
): Promise<void> {
  if (route === undefined) return;
  const { key, fields } = route;
  try {
    const known = await tenant.routes.find(key);
    if (known?.sessionId === sessionId) return;
    if (known !== undefined && !(await isOf(tenant, known.sessionId, source))) return;
    await tenant.routes.put(key, { sessionId, fields, reason: "ingest" });
  } catch (error) {
    // An invalid key or field drops the route, not the transcript.
    if (!BackscrollError.is(error, "invalid_input") && !BackscrollError.is(error, "too_large")) {
      throw error;
    }
    problems.add("unexpected", `the route of the session was left out: ${error.message}`);
  }
}

async function isOf(tenant: TenantApi, sessionId: string, source: string): Promise<boolean> {
  try {
    return (await tenant.getSessionMeta(sessionId)).origin.source === source;
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return true;
    throw error;
  }
}
