/**
 * Imports a session from a transcript reader.
 *
 * Idempotent: importing a file again changes nothing, and a file that has grown adds its new
 * entries. A session is identified by its origin key, an entry by an id derived from that key and
 * the source's id. Each entry is looked up, as a file may be rewritten anywhere.
 */

import { batched, batchesOf, splitAhead } from "../../ingest/batches.ts";
import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { LateEntries } from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { JsonObject } from "../../model/json.ts";
import { MAX_PATH_BYTES, MAX_TITLE_BYTES } from "../../model/limits.ts";
import {
  HOUR_CACHE_KEY,
  LATE_FILES_KEY,
  type Origin,
  type Session,
  settableOf,
} from "../../model/session.ts";
import { type NewSession, REIMPORT } from "../../store/records.ts";
import { checkInput, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type CreateSessionInput, toNewSession } from "../session-input.ts";
import type { DescribeSession } from "./describe-session.ts";
import { toName, toText } from "./import-draft.ts";
import { ImportSubject } from "./import-subject.ts";
import { ImportWriter } from "./import-writer.ts";
import { ImportedCopies } from "./imported-copies.ts";
import { type EarlierKeys, findIdKey, findKnown, isForgotten } from "./known-session.ts";
import {
  FILES_KEY,
  filesOf,
  isLateFile,
  isShared,
  isTouched,
  type SessionFile,
  withFile,
  withLateFile,
} from "./session-files.ts";

export interface ImportOptions {
  /** The file, for the session's origin; it also identifies a session without an id. */
  readonly file?: string;
  /** The session's origin key, unique within the tenant. Default: source and id. */
  readonly key?: string;
  /** Other keys under which the session may be stored already. */
  readonly earlier?: EarlierKeys;
  readonly workstation?: string;
  readonly projectId?: string;
  /** The repository of the session's folder. */
  readonly repo?: string;
  /** The session's owner. Default: the agent. */
  readonly owner?: string;
  /** Metadata of a new session, beside the source's. */
  readonly metadata?: JsonObject;
  /** Skips a session that was imported before and deleted. */
  readonly skipForgotten?: boolean;
  /**
   * The `last` of an earlier reading, if only later lines are read. A format without a tree
   * continues from there.
   */
  readonly after?: string;
  /**
   * Called when everything is read and something was stored: gives further changes of the session.
   * `title` comes from the entries, if any; `skipped` is the number of known entries.
   */
  readonly describe?: DescribeSession;
  /** Called for each known entry; not by a remote store. */
  readonly onKnown?: (entry: ImportedEntry) => void;
  /**
   * An idempotency key for retried imports: entries stored under this key count as stored, not as
   * known.
   */
  readonly idempotencyKey?: string;
  /** Creates no session without a message; `sessionId` is then null. */
  readonly skipEmpty?: boolean;
  /**
   * For sessions in several files: how to handle new entries of a file that precedes a stored one.
   * `refuse`: store nothing, result `late`. `anew`: delete the session and store it again under its
   * id, beginning with its first file; result `late` if it was written to here. `aside`: store them
   * as a branch and keep the leaf. Default: continue from the leaf.
   */
  readonly whenLate?: LateEntries;
  /** A dry run: counts and stores nothing. */
  readonly dryRun?: boolean;
  /** Called periodically with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
}

export interface ImportResult {
  /** Null after a dry run of a new session. */
  readonly sessionId: string | null;
  /** Whether the session is new. */
  readonly created: boolean;
  /** Entries that were stored. */
  readonly entries: number;
  /** Known entries. */
  readonly skipped: number;
  /** The number of problems; the transcript's log has the first of them. */
  readonly problems: number;
  /** The last entry that can be continued; null if there is none. */
  readonly last: string | null;
  /** The session's origin key. */
  readonly key: string;
  /** The session was deleted here and skipped. */
  readonly forgotten: boolean;
  /**
   * Of a file's tail (`after`): it repeats ids of earlier lines, and was not stored to its end. The
   * whole file must be read to tell them apart.
   */
  readonly unsure?: boolean;
  /** Refused by `whenLate`: the session's files, in order. */
  readonly late?: readonly string[];
}

export async function importSession(
  engine: EngineContext,
  imported: ImportedSession,
  options: ImportOptions = {},
): Promise<ImportResult> {
  checkInput(options, "options", INPUTS.importSession);
  checkImported(imported);
  const key = originKey(imported, options);
  const { earlier, metadata } = options;
  const lateFacts = () =>
    options.dryRun ? undefined : { origin: toOrigin(imported, key, options), metadata };
  const [found, forgotten] = await Promise.all([
    findKnown(engine, key, earlier, lateFacts),
    options.skipForgotten ? isForgotten(engine, key, earlier) : false,
  ]);
  const nothing = { sessionId: null, created: false, entries: 0, skipped: 0, last: null, key };
  if (found === undefined && forgotten) {
    return { ...nothing, problems: imported.problems.total, forgotten: true };
  }
  const mayBeEmpty = found === undefined && options.skipEmpty;
  const entries = mayBeEmpty ? await untilMessage(imported.entries) : imported.entries;
  if (entries === undefined) {
    return { ...nothing, problems: imported.problems.total, forgotten: false };
  }
  const copies = ImportedCopies.of(engine, imported);
  const fork = await copies?.findFork();
  const draft = () => ({ ...toDraft(engine, imported, key, options), ...fork });
  const idKeyOf = (session: Session | null) => findIdKey(engine, session, key, earlier);
  const file = fileOf(imported, options);
  const files = found === undefined ? [] : filesOf(found);
  const late = () => ({
    sessionId: found?.id ?? null,
    created: false,
    entries: 0,
    skipped: 0,
    last: null,
    problems: imported.problems.total,
    key: found?.origin.key ?? key,
    forgotten: false,
    late: lateFiles(files, file),
  });
  const isAnew = found !== undefined && options.whenLate === "anew" && !options.dryRun;
  if (isAnew && (await isTouched(engine, found, await idKeyOf(found)))) return late();
  const known = isAnew ? await clear(engine, found, draft()) : found;
  const subject = await ImportSubject.of(engine, known ?? draft(), idKeyOf);
  if (found !== undefined && options.idempotencyKey !== undefined) {
    subject.isNew = await isMadeBy(engine, found, draft());
  }
  const writer = new ImportWriter(engine, subject, {
    startedAt: imported.startedAt,
    title: titleOf(imported),
    problems: imported.problems,
    dryRun: options.dryRun ?? false,
    after: options.after ?? null,
    describe: options.describe,
    onKnown: options.onKnown,
    idempotencyKey: options.idempotencyKey,
    whenLate: file !== undefined && isLateFile(files, file) ? toLateRule(options) : undefined,
    files: (branch) => {
      const listed = file === undefined ? undefined : withFile(files, file);
      if (branch === null || file === undefined || found === undefined) return listed;
      return { ...listed, ...withLateFile(found, file, branch) };
    },
    newestAt:
      found !== undefined && file !== undefined && isShared(files, file) ? found.updatedAt : 0,
  });
  let read = 0;
  // One call per batch, so that no entry of the last batch stays referenced while waiting for the
  // next.
  const take = async (batch: Iterable<ImportedEntry>) => {
    for (const entry of batch) {
      // Usually only buffers the entry.
      const storing = writer.add(entry);
      if (storing !== undefined) await storing;
      if (++read % 100 === 0) options.onProgress?.(read);
    }
  };
  for await (const batch of batchesOf(entries))
    await take(copies ? await copies.mark(batch) : batch);
  await writer.finish(imported.leaf?.());
  if (writer.isLate) return late();
  return {
    sessionId: subject.session?.id ?? null,
    created: subject.isNew,
    entries: writer.stored,
    skipped: writer.skipped,
    problems: imported.problems.total,
    last: writer.last,
    key: subject.session?.origin.key ?? key,
    forgotten: false,
    ...(writer.isUnsure ? { unsure: true } : {}),
  };
}

/** Entries buffered while looking for the first message. */
const MAX_BEFORE_MESSAGE = 2_000;

/** Undefined if no entry is a message. */
async function untilMessage(
  entries: AsyncIterable<ImportedEntry>,
): Promise<AsyncIterable<ImportedEntry> | undefined> {
  let isThere = false;
  const { ahead, rest } = await splitAhead(entries, (read) => {
    const last = read.at(-1);
    isThere ||= last !== undefined && kindRules(last.kind).counted;
    isThere ||= read.length >= MAX_BEFORE_MESSAGE;
    return isThere;
  });
  if (!isThere) return undefined;
  async function* all(): AsyncGenerator<Iterable<ImportedEntry>> {
    yield ahead;
    yield* rest;
  }
  return batched(all());
}

/** Undefined without a file or a start time. */
function fileOf({ startedAt }: ImportedSession, { file }: ImportOptions): SessionFile | undefined {
  const path = file === undefined ? null : toName(file, MAX_PATH_BYTES);
  return path === null || startedAt === null ? undefined : { path, startedAt };
}

function toLateRule({ whenLate, dryRun }: ImportOptions): "refuse" | "aside" | undefined {
  return whenLate === "anew" || dryRun ? undefined : whenLate;
}

function lateFiles(
  files: readonly SessionFile[],
  file: SessionFile | undefined,
): readonly string[] {
  const all = file === undefined ? undefined : withFile(files, file);
  return ((all?.[FILES_KEY] ?? files) as readonly SessionFile[]).map(({ path }) => path);
}

/** Deletes a session for re-import, and gives its id and the fields set here. */
async function clear(
  engine: EngineContext,
  session: Session,
  draft: NewSession,
): Promise<NewSession> {
  const { participants: _, ...set } = settableOf(session);
  const { [FILES_KEY]: _files, [LATE_FILES_KEY]: _late, ...kept } = session.metadata;
  const { [HOUR_CACHE_KEY]: _counted, ...metadata } = kept;
  await engine.store.deleteSession(engine.tenant, session.id, REIMPORT, engine.now(), engine.by);
  return {
    ...draft,
    ...set,
    id: session.id,
    metadata: { ...draft.metadata, ...metadata },
  };
}

function checkImported(imported: ImportedSession | null | undefined): void {
  const isIterable = typeof imported?.entries?.[Symbol.asyncIterator] === "function";
  if (isIterable && imported.problems !== undefined) return;
  throw invalid("imported", "imported must be a session as readTranscript gives it");
}

function originKey(imported: ImportedSession, options: ImportOptions): string {
  const own = imported.id ?? options.file;
  const key = options.key ?? (own === undefined ? undefined : `${imported.source}:${own}`);
  if (key !== undefined) return toText(key, MAX_PATH_BYTES);
  throw invalid("file", "the session has no id; name its source file");
}

/** The draft of the session, created at the first write or at the end. */
function toDraft(
  engine: EngineContext,
  imported: ImportedSession,
  key: string,
  options: ImportOptions,
): NewSession {
  const input: CreateSessionInput = {
    agent: toName(imported.agent) ?? imported.source,
    createdBy: toName(imported.createdBy ?? imported.agent) ?? imported.source,
    title: titleOf(imported),
    metadata: { ...sessionMetadata(imported), ...options.metadata },
    origin: toOrigin(imported, key, options),
    ...(options.owner === undefined ? {} : { owner: options.owner }),
    ...(imported.startedAt === null ? {} : { startedAt: imported.startedAt }),
    ...(options.idempotencyKey === undefined || options.dryRun
      ? {}
      : { idempotencyKey: options.idempotencyKey }),
  };
  const draft = toNewSession(input, () => engine.newId(), engine.now(), {});
  return imported.startedAt === null ? draft : { ...draft, createdAt: imported.startedAt };
}

function titleOf({ title }: ImportedSession): string {
  return toText(title ?? "", MAX_TITLE_BYTES);
}

/** Whether an existing session was created under this import's key. */
async function isMadeBy(
  engine: EngineContext,
  found: Session,
  draft: NewSession,
): Promise<boolean> {
  if (draft.idempotency === undefined || found.origin.key !== draft.origin.key) return false;
  try {
    // Under the same key this gives the created session; under another one the origin is taken.
    return (await engine.store.createSession(engine.tenant, draft)).id === found.id;
  } catch (error) {
    if (BackscrollError.is(error, "session_exists")) return false;
    throw error;
  }
}

/** A source's metadata is usually small; drop it if it is too large. */
function sessionMetadata(imported: ImportedSession): JsonObject {
  const { metadata } = imported;
  if (Buffer.byteLength(JSON.stringify(metadata)) <= 32 * 1024) return metadata;
  imported.problems.add("entry_cut", "the file's session metadata is too large to keep");
  return {};
}

function toOrigin(imported: ImportedSession, key: string, options: ImportOptions): Origin {
  const fields: Record<string, string | null | undefined> = {
    source: imported.source,
    workstation: options.workstation,
    projectId: options.projectId,
    projectPath: imported.cwd,
    gitBranch: imported.gitBranch,
    repo: options.repo ?? imported.repo,
    file: options.file,
    key,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const text = toName(value ?? null, MAX_PATH_BYTES);
      return text === null ? [] : [[name, text]];
    }),
  ) as Origin;
}
