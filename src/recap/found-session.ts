/** Reads of sessions that may have been deleted since they were found. */

import type { TenantApi } from "../engine/interfaces.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Session } from "../model/session.ts";

/** Undefined if the session was deleted since: its hit is left out. */
export function foundSession(tenant: TenantApi, id: string): Promise<Session | undefined> {
  return unlessDeleted(() => tenant.getSessionMeta(id));
}

export async function unlessDeleted<Result>(
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
