/** Shares on the wire. */

import type { Share } from "../../engine/access/shares.ts";
import { fromWireTime, toWireTime } from "../wire.ts";

export interface WireShare {
  readonly id: string;
  readonly session_id: string;
  readonly shared_by: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The path of a shared session; the token follows. */
export const SHARE_PATH = "/share/";

export function toWireShare({ id, sessionId, sharedBy, createdAt, expiresAt }: Share): WireShare {
  return {
    id,
    session_id: sessionId,
    shared_by: sharedBy,
    created_at: toWireTime(createdAt),
    expires_at: toWireTime(expiresAt),
  };
}

export function fromWireShare(share: WireShare): Share {
  return {
    id: share.id,
    sessionId: share.session_id,
    sharedBy: share.shared_by,
    createdAt: fromWireTime(share.created_at),
    expiresAt: fromWireTime(share.expires_at),
  };
}
