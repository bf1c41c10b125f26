/** Access tokens on the wire, without their secrets. */

import type { AccessToken } from "../model/access-token.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireToken {
  readonly id: string;
  readonly tenant: string;
  readonly scope: AccessToken["scope"];
  readonly actor: string | null;
  /** Names, or `"any"`. */
  readonly act_as: readonly string[] | "any";
  readonly operator: boolean;
  readonly label: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

export function toWireToken(token: AccessToken): WireToken {
  const time = (ms: number | null) => (ms === null ? null : toWireTime(ms));
  return {
    id: token.id,
    tenant: token.tenant,
    scope: token.scope,
    actor: token.actor,
    act_as: token.actAs,
    operator: token.operator,
    label: token.label,
    created_at: toWireTime(token.createdAt),
    expires_at: time(token.expiresAt),
    revoked_at: time(token.revokedAt),
  };
}

export function fromWireToken(token: WireToken): AccessToken {
  const { act_as, created_at, expires_at, revoked_at, ...same } = token;
  const time = (text: string | null) => (text === null ? null : fromWireTime(text));
  return {
    ...same,
    actAs: act_as,
    createdAt: fromWireTime(created_at),
    expiresAt: time(expires_at),
    revokedAt: time(revoked_at),
  };
}
