/** The actor of a request: the token's takes precedence over the request's. */

import { type Access, actorFor } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Provenance } from "../model/session.ts";

/** As `actorFor`, but required. */
export function actorOrError(access: Access, named: string | undefined, field: string): string {
  const actor = actorFor(access, named);
  if (actor !== undefined) return actor;
  throw new BackscrollError(
    "invalid_input",
    `${field} is missing; name the actor, or use a token that names one`,
    { details: { field } },
  );
}

/** The actor fields of a message. */
export function actorField(access: Access, named: string | undefined): { actor?: string } {
  const actor = actorFor(access, named);
  return actor === undefined ? {} : { actor };
}

/** The session's owner: an actor that the caller may write as, or undefined. */
export function ownerField(access: Access, named: string | undefined): { owner?: string } {
  return named === undefined ? {} : { owner: actorFor(access, named) ?? named };
}

/**
 * Whose words a new session has: only the server's own user, who needs no token, says that they are
 * the person's own.
 */
export function claimed(access: Access, given: Provenance | undefined): Provenance | undefined {
  if (access.tokenId === null) return given;
  return given === "foreign" ? "foreign" : "team";
}

/**
 * Throws `forbidden` for a participant that the caller may not write as. `known` are the session's
 * agent and present participants, which are allowed.
 *
 * Writers join by writing; naming a participant claims that they took part.
 */
export function checkParticipants(
  access: Access,
  named: readonly string[] | undefined,
  known: readonly (string | undefined)[],
): void {
  for (const name of named ?? []) if (!known.includes(name)) actorFor(access, name);
}
