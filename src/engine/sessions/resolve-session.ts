/**
 * From what a person or an agent calls a session to the session: its id, its short id, or the id that
 * its own agent uses. Part of an id is none: a mistyped or a deleted one must not lead to another
 * session.
 *
 * For reads. A write or a deletion names the session's id.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import { MAX_REFS, namedRefs, type SessionRef } from "../../store/ids/session-ref.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkKey, checkObject } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import type { SearchInput } from "../search.ts";

/** `session_not_found`, with ids that begin so; or `session_ambiguous`, with those that have it. */
export async function resolveSession(engine: EngineContext, ref: string): Promise<Session> {
  const { store, tenant } = engine;
  const exact = await store.findSession(tenant, checkKey(ref, "sessionId"));
  if (exact !== undefined) return exact;
  const alike = await store.findSessionRefs(tenant, ref);
  const named = namedRefs(alike, ref);
  if (named.length > 1) throw ambiguous(ref, named);
  const session = named[0] && (await store.findSession(tenant, named[0].id));
  if (session !== undefined) return session;
  throw sessionNotFound(ref, alike.length === 0 ? undefined : listRefs(alike));
}

/** The id of the session that `ref` names; `ref` itself if it names none. */
export async function resolveSessionId(engine: EngineContext, ref: string): Promise<string> {
  try {
    return (await resolveSession(engine, ref)).id;
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return ref;
    throw error;
  }
}

/** Reads by the id itself, and looks for what else it may be only if there is no such session. */
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

/** An argument in which a field names a session. */
export async function resolveField<Name extends string, Input extends { [_ in Name]?: string }>(
  engine: EngineContext,
  input: Input,
  field: Name,
): Promise<Input> {
  const ref: unknown = checkObject(input, "input")[field];
  if (typeof ref !== "string" || ref === "") return input;
  return { ...input, [field]: await resolveSessionId(engine, ref) };
}

/** A longer list is a program's, which has whole ids. */
const MAX_TYPED = 20;

/** A search in some sessions, or in all but some. */
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
