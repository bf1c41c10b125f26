/**
 * Idempotency across resets: finds a redelivered message that was stored before a reset.
 *
 * Idempotency keys hold within one session. A reset starts another session, so the previous session
 * must be searched as well.
 */

import { createHash } from "node:crypto";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import type { CheckedInbound } from "../inbound-message.ts";

/** Channels redeliver soon, so the newest entries suffice. */
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

/** The metadata of an entry: its delivery and the channel's message id. */
export function inboundMark(
  delivery: string,
  id: string,
): { readonly inboundId: string; readonly delivery: string } {
  return { inboundId: id, delivery };
}

/** Searches the previous session, and the current one only if it is about to end. */
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
