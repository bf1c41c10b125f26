/**
 * Resolves a session reference: its id, its short id, its agent's own id, or the beginning of one of
 * them that no other session has.
 *
 * For reads only; a write or a deletion names the full id.
 */

import { BackscrollError } from "../../model/errors.ts";
import { checkName } from "../../model/ids.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PATH_BYTES } from "../../model/limits.ts";
import type { Origin, Session } from "../../model/session.ts";
import { MAX_REFS, namedRefs, type SessionRef } from "../../store/session-ref.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey, checkObject } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import type { SearchInput } from "../search.ts";
import { type CreateSessionInput, toNewSession } from "../session-input.ts";

/** A shorter beginning is a slip of the hand rather than an id. */
const SHORTEST_BEGINNING = 4;

/**
 * Throws `session_not_found`, with ids of the same prefix, or `session_ambiguous`, with the
 * candidates.
 */
export async function resolveSession(engine: EngineContext, ref: string): Promise<Session> {
  const { store, tenant } = engine;
  const exact = await store.findSession(tenant, checkKey(ref, "sessionId"));
  if (exact !== undefined) return exact;
  const alike = await store.findSessionRefs(tenant, ref);
  const exactly = namedRefs(alike, ref);
  const isOne = alike.length === 1 && ref.length >= SHORTEST_BEGINNING;
  const named = exactly.length === 0 && isOne ? alike : exactly;
  if (named.length > 1) throw ambiguous(ref, named);
  const session = named[0] && (await store.findSession(tenant, named[0].id));
  if (session !== undefined) return session;
  throw sessionNotFound(ref, alike.length === 0 ? undefined : listRefs(alike));
}

/** The id that `ref` resolves to; `ref` itself if nothing matches. */
export async function resolveSessionId(engine: EngineContext, ref: string): Promise<string> {
  try {
    return (await resolveSession(engine, ref)).id;
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return ref;
    throw error;
  }
}

/** Reads by the id itself, and resolves it only if no such session exists. */
export async function resolveIfMissing<Result>(
  engine: EngineContext,
  ref: string,
  read: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await read(ref);
  } catch (error) {
    if (!BackscrollError.is(error, "session_not_found")) throw error;
    const id = await resolveSessionId(engine, ref);
    if (id === ref) throw error;
    return read(id);
  }
}

/** Resolves a field that names a session. */
export async function resolveField<Name extends string, Input extends { [_ in Name]?: string }>(
  engine: EngineContext,
  input: Input,
  field: Name,
): Promise<Input> {
  const ref: unknown = checkObject(input, "input")[field];
  if (typeof ref !== "string" || ref === "") return input;
  return { ...input, [field]: await resolveSessionId(engine, ref) };
}

/** A longer list comes from a program, which has full ids. */
const MAX_TYPED = 20;

/** Resolves the included and excluded sessions of a search. */
export async function resolveSearch(
  engine: EngineContext,
  input: SearchInput,
): Promise<SearchInput> {
  const resolved = await Promise.all(
    (["session", "excludeSession"] as const).map(async (field) => {
      const named: unknown = checkObject(input, "input")[field];
      const refs = typeof named === "string" ? [named] : Array.isArray(named) ? named : [];
      // The search itself reports damage of the list.
      if (refs.length === 0 || refs.length > MAX_TYPED || !refs.every(isRef)) return [];
      return [[field, await Promise.all(refs.map((ref) => resolveSessionId(engine, ref)))]];
    }),
  );
  return { ...input, ...Object.fromEntries(resolved.flat()) };
}

function isRef(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function ambiguous(ref: string, found: readonly SessionRef[]): BackscrollError {
  return new BackscrollError(
    "session_ambiguous",
    `${ref} is the id of several sessions: ${listRefs(found)}; use one of these`,
    { details: { sessionId: ref, candidates: found.map(({ id }) => id).join(" ") } },
  );
}

function listRefs(refs: readonly SessionRef[]): string {
  const shown = refs.slice(0, MAX_REFS).map(({ shortId, title }) => {
    return title === "" ? shortId : `${shortId} (${title})`;
  });
  return `${shown.join(", ")}${refs.length > shown.length ? ", …" : ""}`;
}

export interface EnsureSessionInput extends Omit<CreateSessionInput, "origin" | "idempotencyKey"> {
  /**
   * The caller's name of the session, unique within the tenant: any text, stored as `origin.key`.
   */
  readonly key: string;
  readonly origin?: Omit<Origin, "key">;
}

/**
 * Gives the id of the session with this key, creating it from `input` if missing. An existing
 * session is unchanged. Concurrent calls create one session.
 */
export async function ensureSession(
  engine: EngineContext,
  input: EnsureSessionInput,
): Promise<string> {
  const { store, tenant } = engine;
  const { key, origin = {}, ...rest } = checkInput(input, "session", INPUTS.ensureSession);
  checkPart(origin, "origin", INPUTS["ensureSession.origin"]);
  checkName(key, "key", MAX_PATH_BYTES);
  const create = { ...rest, origin: { ...origin, key } };
  const session = toNewSession(create, () => engine.newId(), engine.now());
  const existing = await store.findSessionByOrigin(tenant, key);
  if (existing !== undefined) return existing.id;
  const ensured = await store.createSession(tenant, { ...session, orExisting: true });
  return ensured.id;
}
