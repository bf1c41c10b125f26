/** Who a request writes for: what the token says goes before what the request says. */

import { type Access, actorFor } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";

/** As `actorFor`, where somebody must be named. */
export function actorOrError(access: Access, named: string | undefined, field: string): string {
  const actor = actorFor(access, named);
  if (actor !== undefined) return actor;
  throw new BackscrollError(
    "invalid_input",
    `${field} is missing; name who writes, or use a token that names its actor`,
    { details: { field } },
  );
}

/** The part of a message that says who wrote it. */
export function actorField(access: Access, named: string | undefined): { actor?: string } {
  const actor = actorFor(access, named);
  return actor === undefined ? {} : { actor };
}

/** Whose a session is: one whom the caller may write for, or nothing is said of it. */
export function ownerField(access: Access, named: string | undefined): { owner?: string } {
  return named === undefined ? {} : { owner: actorFor(access, named) ?? named };
}

/**
 * Throws `forbidden` for a participant whom the caller may not write for. `known` are those of whom it
 * is no news: the agent that a session is with, and who takes part already.
 *
 * Whoever writes takes part by that; so nobody has to be named before, and a name that is says of
 * somebody that they were there.
 */
export function checkParticipants(
  access: Access,
  named: readonly string[] | undefined,
  known: readonly (string | undefined)[],
): void {
  for (const name of named ?? []) if (!known.includes(name)) actorFor(access, name);
}
