/** The session of a hit. */

import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Session } from "../model/session.ts";

/** Undefined if the session was deleted since: its hit is left out. */
export async function foundSession(tenant: TenantApi, id: string): Promise<Session | undefined> {
  try {
    return await tenant.getSessionMeta(id);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
