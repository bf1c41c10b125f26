/**
 * The session that an import writes to: a stored one, also under an earlier key, or one created
 * lazily.
 *
 * The key includes the project, which a file may reveal only after some of it is stored. The
 * session then gets the new key, and the ids of its entries stay.
 *
 * Most files are small and are read completely before their first entries are stored, so the
 * session is created with all known fields instead of being updated right afterwards.
 */

import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { LateEntries } from "../../model/inputs/choices.ts";
import type { JsonObject } from "../../model/json.ts";
import { MAX_PATH_BYTES, MAX_TITLE_BYTES } from "../../model/limits.ts";
import type { Origin, Provenance, Session } from "../../model/session.ts";
import { type NewSession, REIMPORT, type SessionPatch } from "../../store/records.ts";
import { patchedMetadata } from "../../store/rows/session-values.ts";
import { invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type CreateSessionInput, toNewSession } from "../session-input.ts";
import { toName, toText } from "./import-draft.ts";
import { ImportedIds } from "./imported-id.ts";

/** The session fields that a description depends on. */
export type Described = Pick<Session, "title" | "metadata" | "figures">;
export type Description = Pick<SessionPatch, "title" | "metadata" | "figures">;

export type DescribeSession = (
  session: Described,
  title: string | undefined,
  skipped: number,
) => Description;

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
  /** Whose words a new session has. Default: `foreign`. */
  readonly provenance?: Provenance;
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

/** Finds the id key of a session; null if the session does not exist yet. */
export type FindIdKey = (session: Session | null) => Promise<string>;

export class ImportSubject {
  /** Null until created. */
  session: Session | null;
  /** Created by this import. */
  isNew: boolean;
  readonly startedAt: number;
  /** The key that entry ids are derived from. */
  idKey = "";
  readonly #engine: EngineContext;
  readonly #draft: NewSession | undefined;
  readonly #findIdKey: FindIdKey;

  private constructor(engine: EngineContext, found: Session | NewSession, findIdKey: FindIdKey) {
    const isFound = "leaf" in found;
    this.#engine = engine;
    this.session = isFound ? found : null;
    this.isNew = !isFound;
    this.startedAt = found.startedAt;
    this.#draft = isFound ? undefined : found;
    this.#findIdKey = findIdKey;
  }

  static async of(
    engine: EngineContext,
    found: Session | NewSession,
    findIdKey: FindIdKey,
  ): Promise<ImportSubject> {
    const subject = new ImportSubject(engine, found, findIdKey);
    subject.idKey = await findIdKey(subject.session);
    return subject;
  }

  /** The session's fields, whether it exists or not. */
  get described(): Described | undefined {
    return this.session ?? this.#draft;
  }

  /** Creates the session if it does not exist. */
  async make(description: Description = {}): Promise<Session> {
    if (this.session !== null) return this.session;
    const draft = this.#draft as NewSession;
    const metadata = patchedMetadata(draft.metadata, description);
    this.session = await this.#create({ ...draft, ...description, metadata });
    return this.session;
  }

  async #create(session: NewSession): Promise<Session> {
    const { store, tenant } = this.#engine;
    try {
      return await store.createSession(tenant, session);
    } catch (error) {
      // Another import of the same session is in progress.
      const { key = "" } = session.origin;
      const other = BackscrollError.is(error, "session_exists")
        ? await store.findSessionByOrigin(tenant, key)
        : undefined;
      if (other === undefined) throw error;
      this.isNew = false;
      this.idKey = await this.#findIdKey(other);
      return other;
    }
  }
}

export interface EarlierKeys {
  /** A key that a found session keeps. */
  readonly kept?: string;
  /** The key of a session without a project; a session found under it gets the new key. */
  readonly replaced?: string;
  /** A session under one of these keys matches if it has this source, and this file unless null. */
  readonly same: { readonly source: string; readonly file: string | null };
}

/** Fields that a session without a project gets with its key. */
export interface LateFacts {
  readonly origin: Origin;
  readonly metadata: JsonObject | undefined;
}

/** `facts` gives undefined if the session must not change. */
export async function findKnown(
  engine: EngineContext,
  key: string,
  earlier: EarlierKeys | undefined,
  facts: () => LateFacts | undefined,
): Promise<Session | undefined> {
  const { kept, replaced } = earlier ?? {};
  const find = async (each: string | undefined) =>
    each === undefined ? undefined : engine.store.findSessionByOrigin(engine.tenant, each);
  // In parallel: most sessions are new, and each look-up is a round trip.
  const [found, same, bare] = await Promise.all([
    find(key),
    find(kept === key || kept === replaced ? undefined : kept),
    find(replaced === key ? undefined : replaced),
  ]);
  if (found !== undefined || earlier === undefined) return found;
  const isSame = ({ origin }: Session) =>
    origin.source === earlier.same.source &&
    (earlier.same.file === null || origin.file === earlier.same.file);
  if (same !== undefined && isSame(same)) return same;
  // An empty session is replaced.
  if (bare === undefined || bare.entryCount === 0 || !isSame(bare)) return undefined;
  const late = facts();
  return late === undefined ? bare : complete(engine, bare, key, late);
}

/**
 * The key that the session's entry ids derive from: the one under which its first entry was stored,
 * because ids never change.
 */
export async function findIdKey(
  { store, tenant }: EngineContext,
  session: Session | null,
  key: string,
  earlier: EarlierKeys | undefined,
): Promise<string> {
  const own = session?.origin.key ?? key;
  const other = earlier?.replaced;
  if (session === null || session.entryCount === 0 || other === undefined) return own;
  const keyOf = (id: string | null | undefined) =>
    [own, other].find((each) => new ImportedIds(each).includes(id ?? ""));
  const ofLeaf = keyOf(session.leaf);
  if (ofLeaf !== undefined) return ofLeaf;
  // The first entry is missing, or the session was continued here.
  const first = { sessionId: session.id, afterSequence: 0, limit: 1, payloads: false };
  const [entry] = (await store.readEntries(tenant, { select: "tree", ...first })).entries;
  return keyOf(entry?.id) ?? own;
}

/** Whether it was deleted here, under any of its keys. */
export async function isForgotten(
  { store, tenant }: EngineContext,
  key: string,
  earlier: EarlierKeys | undefined,
): Promise<boolean> {
  const keys = new Set([key, earlier?.kept, earlier?.replaced]);
  const tombstones = await Promise.all(
    [...keys].map((each) =>
      each === undefined ? undefined : store.findTombstoneByOrigin(tenant, each),
    ),
  );
  // A deletion for re-import does not count, even if the re-import was interrupted.
  return tombstones.some((each) => each !== undefined && each.reason !== REIMPORT);
}

async function complete(
  { store, tenant, now }: EngineContext,
  session: Session,
  key: string,
  { origin, metadata }: LateFacts,
): Promise<Session | undefined> {
  const { projectId, projectPath, gitBranch, repo } = origin;
  const project = {
    ...defined({ projectId, projectPath, gitBranch, repo }),
  };
  const patch = { origin: { key, ...project }, ...(metadata === undefined ? {} : { metadata }) };
  try {
    return await store.updateSession(tenant, session.id, patch, now());
  } catch (error) {
    // Another import of the same session is in progress.
    if (!BackscrollError.is(error, "session_exists")) throw error;
    return store.findSessionByOrigin(tenant, key);
  }
}

export function originKey(imported: ImportedSession, options: ImportOptions): string {
  const own = imported.id ?? options.file;
  const key = options.key ?? (own === undefined ? undefined : `${imported.source}:${own}`);
  if (key !== undefined) return toText(key, MAX_PATH_BYTES);
  throw invalid("file", "the session has no id; name its source file");
}

/** The draft of the session, created at the first write or at the end. */
export function toDraft(
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

export function titleOf({ title }: ImportedSession): string {
  return toText(title ?? "", MAX_TITLE_BYTES);
}

/** Whether an existing session was created under this import's key. */
export async function isMadeBy(
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

export function toOrigin(imported: ImportedSession, key: string, options: ImportOptions): Origin {
  const fields: Record<string, string | null | undefined> = {
    source: imported.source,
    workstation: options.workstation,
    projectId: options.projectId,
    projectPath: imported.cwd,
    gitBranch: imported.gitBranch,
    repo: options.repo ?? imported.repo,
    file: options.file,
    key,
    provenance: options.provenance ?? "foreign",
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const text = toName(value ?? null, MAX_PATH_BYTES);
      return text === null ? [] : [[name, text]];
    }),
  ) as Origin;
}
