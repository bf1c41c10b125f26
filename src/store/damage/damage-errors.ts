/**
 * Errors of reads that find damage.
 *
 * Only the call that would return damaged data fails. Each error names the damaged item and the way
 * out.
 */

import { BackscrollError, type ErrorDetails } from "../../model/errors.ts";

const WAY_OUT =
  "backscroll doctor --verify lists all that is damaged: restore it from a backup, or import it again";

export function entryDamaged(
  entryId: string,
  sessionId: string,
  what: string,
  cause?: unknown,
): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `entry ${entryId} of session ${sessionId} is damaged: ${what}; ${WAY_OUT}`,
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
    `session ${sessionId} is damaged: ${what}; ${WAY_OUT}`,
    { details: { sessionId, ...place }, cause },
  );
}

/** Other items, such as `change 17 of the feed`. */
export function rowDamaged(row: string, what: string, cause?: unknown): BackscrollError {
  return new BackscrollError("store_corrupt", `${row} is damaged: ${what}; ${WAY_OUT}`, { cause });
}

export function payloadDamaged(hash: string, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `the payload ${hash.slice(0, 12)}… is missing, or does not match its address; ${WAY_OUT}`,
    { details: { payload: hash }, cause },
  );
}

export function packDamaged(session: number, pack: number, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `pack ${pack} of session number ${session} is missing or damaged; ${WAY_OUT}`,
    { cause },
  );
}

/** The damaged item without the way out, for lists of damage. */
export function damageText({ message }: BackscrollError): string {
  return message.replace(`; ${WAY_OUT}`, "");
}

export function isDamage(error: unknown): error is BackscrollError {
  return BackscrollError.is(error, "store_corrupt");
}
