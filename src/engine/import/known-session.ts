/**
 * Finds the stored session of an import, also under an earlier key.
 *
 * The key includes the project, which a file may reveal only after some of it is stored. The
 * session then gets the new key, and the ids of its entries stay.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Origin, Session } from "../../model/session.ts";
import { REIMPORT } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { ImportedIds } from "./imported-id.ts";

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
    ...(projectId === undefined ? {} : { projectId }),
    ...(projectPath === undefined ? {} : { projectPath }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(repo === undefined ? {} : { repo }),
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
