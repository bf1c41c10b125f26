/**
 * Whether a message that is delivered once more was stored before a reset.
 *
 * The store knows a message of the same session by its idempotency key. A reset lies between two
 * sessions, so that the message has to be looked for where it would have been said.
 */

import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";

/** A channel that delivers twice does so soon: no more is looked at. */
const NEWEST = 50;

/** The channel's own id of a message, as its entry keeps it. */
export function inboundMark(id: string): { readonly inboundId: string } {
  return { inboundId: id };
}

/** Looks at the session before; at the session itself only if it is about to end. */
export async function findRepeated(
  tenant: TenantEngine,
  session: Session,
  id: string,
  isEnding: boolean,
): Promise<Entry | undefined> {
  const { previousSessionId } = session.metadata;
  const found = isEnding ? await findIn(tenant, session.id, id) : undefined;
  if (found !== undefined || typeof previousSessionId !== "string") return found;
  return findIn(tenant, previousSessionId, id);
}

async function findIn(
  tenant: TenantEngine,
  sessionId: string,
  id: string,
): Promise<Entry | undefined> {
  try {
    const handle = await tenant.getSession(sessionId);
    const newest = await handle.history({ limit: NEWEST });
    return newest.findLast(({ metadata }) => metadata["inboundId"] === id);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
