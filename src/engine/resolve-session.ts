/**
 * From what a person or an agent calls a session to the session: its id, its short id, the id that
 * its own agent uses, or the beginning of one of these if only one session has it.
 *
 * For reads. A write or a deletion names the session's id.
 */

import { BackscrollError } from "../model/errors.ts";
import type { Session } from "../model/session.ts";
import { bestRefs, MAX_REFS, type SessionRef } from "../store/rows/session-ref.ts";
import { sessionNotFound } from "../store/store-errors.ts";
import { checkInput, checkKey } from "./check.ts";
import type { Scope } from "./scope.ts";
import type { SearchInput } from "./search.ts";

/** `session_not_found`, or `session_ambiguous` with the sessions that are meant. */
export async function resolveSession(scope: Scope, ref: string): Promise<Session> {
  const { store, tenant } = scope;
  const exact = await store.findSession(tenant, checkKey(ref, "sessionId"));
  if (exact !== undefined) return exact;
  const found = bestRefs(await store.findSessionRefs(tenant, ref), ref);
  if (found.length > 1) throw ambiguous(ref, found);
  const session = found[0] && (await store.findSession(tenant, found[0].id));
  if (session === undefined) throw sessionNotFound(ref);
  return session;
}

/** The id of the session that `ref` names; `ref` itself if it names none. */
export async function resolveSessionId(scope: Scope, ref: string): Promise<string> {
  try {
    return (await resolveSession(scope, ref)).id;
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return ref;
    throw error;
  }
}

/** Reads by the id itself, and looks for what else it may be only if there is no such session. */
export async function resolveIfMissing<Result>(
  scope: Scope,
  ref: string,
  read: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await read(ref);
  } catch (error) {
    if (!BackscrollError.is(error, "session_not_found")) throw error;
    const id = await resolveSessionId(scope, ref);
    if (id === ref) throw error;
    return read(id);
  }
}

/** An argument in which a field names a session. */
export async function resolveField<Name extends string, Input extends { [_ in Name]?: string }>(
  scope: Scope,
  input: Input,
  field: Name,
): Promise<Input> {
  const ref: unknown = checkInput(input, "input")[field];
  if (typeof ref !== "string" || ref === "") return input;
  return { ...input, [field]: await resolveSessionId(scope, ref) };
}

/** A longer list is a program's, which has whole ids. */
const MAX_TYPED = 20;

/** A search in some sessions, or in all but some. */
export async function resolveSearch(scope: Scope, input: SearchInput): Promise<SearchInput> {
  const resolved = await Promise.all(
    (["session", "excludeSession"] as const).map(async (field) => {
      const named: unknown = checkInput(input, "input")[field];
      const refs = typeof named === "string" ? [named] : Array.isArray(named) ? named : [];
      // What is wrong with the list, the search itself says.
      if (refs.length === 0 || refs.length > MAX_TYPED || !refs.every(isRef)) return [];
      return [[field, await Promise.all(refs.map((ref) => resolveSessionId(scope, ref)))]];
    }),
  );
  return { ...input, ...Object.fromEntries(resolved.flat()) };
}

function isRef(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function ambiguous(ref: string, found: readonly SessionRef[]): BackscrollError {
  const shown = found.slice(0, MAX_REFS);
  const list = shown.map(({ shortId, title }) =>
    title === "" ? shortId : `${shortId} (${title})`,
  );
  const more = found.length > shown.length ? ", …" : "";
  return new BackscrollError(
    "session_ambiguous",
    `${ref} may be one of several sessions: ${list.join(", ")}${more}; give more of the id`,
    { details: { sessionId: ref, candidates: shown.map(({ id }) => id).join(" ") } },
  );
}
