/**
 * Corruption errors. Only the call that would return damaged data fails; the error names the
 * damaged item and the remedy.
 */

import { BackscrollError, type ErrorDetails } from "../../model/errors.ts";

const REMEDY =
  "backscroll doctor --verify lists all damage: restore from a backup, or import again";

export function entryDamaged(
  entryId: string,
  sessionId: string,
  what: string,
  cause?: unknown,
): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `entry ${entryId} of session ${sessionId} is damaged: ${what}; ${REMEDY}`,
    { details: { entryId, sessionId }, cause },
  );
}

/** `place` is the session's position in a list, so that a caller can continue after it. */
export function sessionDamaged(
  sessionId: string,
  what: string,
  cause?: unknown,
  place: ErrorDetails = {},
): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `session ${sessionId} is damaged: ${what}; ${REMEDY}`,
    { details: { sessionId, ...place }, cause },
  );
}

/** Other items, such as `change 17 of the feed`. */
export function rowDamaged(row: string, what: string, cause?: unknown): BackscrollError {
  return new BackscrollError("store_corrupt", `${row} is damaged: ${what}; ${REMEDY}`, { cause });
}

export function payloadDamaged(hash: string, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `the payload ${hash.slice(0, 12)}… is missing, or does not match its address; ${REMEDY}`,
    { details: { payload: hash }, cause },
  );
}

export function packDamaged(session: number, pack: number, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `pack ${pack} of session number ${session} is missing or damaged; ${REMEDY}`,
    { cause },
  );
}

/** The message without the remedy, for lists of damage. */
export function damageText({ message }: BackscrollError): string {
  return message.replace(`; ${REMEDY}`, "");
}

export function isDamage(error: unknown): error is BackscrollError {
  return BackscrollError.is(error, "store_corrupt");
}
