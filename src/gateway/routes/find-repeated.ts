/**
 * Whether a message that is delivered once more was stored before a reset.
 *
 * The store knows a message of the same session by its idempotency key. A reset lies between two
 * sessions, so that the message has to be looked for where it would have been said.
 */

import { createHash } from "node:crypto";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import type { CheckedInbound } from "../inbound-message.ts";

/** A channel that delivers twice does so soon: no more is looked at. */
const NEWEST = 50;

/**
 * The idempotency key of a delivery. The channel's message id alone is not unique: two accounts or
 * chats that share a session may both have a message 17.
 */
export function deliveryOf(message: CheckedInbound): string | undefined {
  const { channel = null, account = null, peer = null, key = null, id } = message;
  if (id === undefined) return undefined;
  const place = JSON.stringify([channel, account, peer, key, id]);
  return createHash("sha256").update(place).digest("base64url");
}

/** What an entry keeps of its delivery, and of the channel's own id. */
export function inboundMark(
  delivery: string,
  id: string,
): { readonly inboundId: string; readonly delivery: string } {
  return { inboundId: id, delivery };
}

/** Looks at the session before; at the session itself only if it is about to end. */
export async function findRepeated(
  tenant: TenantEngine,
  session: Session,
  delivery: string,
  isEnding: boolean,
): Promise<Entry | undefined> {
  const { previousSessionId } = session.metadata;
  const found = isEnding ? await findIn(tenant, session.id, delivery) : undefined;
  if (found !== undefined || typeof previousSessionId !== "string") return found;
  return findIn(tenant, previousSessionId, delivery);
}

async function findIn(
  tenant: TenantEngine,
  sessionId: string,
  delivery: string,
): Promise<Entry | undefined> {
  try {
    const handle = await tenant.getSession(sessionId);
    const newest = await handle.history({ limit: NEWEST });
    return newest.findLast(({ metadata }) => metadata["delivery"] === delivery);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
