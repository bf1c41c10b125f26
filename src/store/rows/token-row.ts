/** Maps rows of `access_tokens` to the port's records. */

import type { Access, AccessScope, AccessToken } from "../../model/access.ts";
import { rowDamaged } from "../damage/damage-errors.ts";
import { parseStored } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";
import type { NewToken } from "../requests.ts";

/** From `access_tokens` (k). */
export const TOKEN_COLUMNS = `k.id, k.scope, k.actor, k.act_as, k.operator, k.label, k.created_at,
  k.expires_at, k.revoked_at`;

export function toToken(row: Row, tenant: string): AccessToken {
  return {
    id: String(row["id"]),
    tenant,
    // An unknown scope of a later version includes none of ours: see `includesScope`.
    scope: row["scope"] as AccessScope,
    actor: row["actor"] as string | null,
    actAs: parseStored(String(row["act_as"] ?? "[]"), (cause) =>
      rowDamaged(`the access token ${String(row["id"])}`, "its actors are no JSON", cause),
    ) as Access["actAs"],
    operator: Number(row["operator"]) === 1,
    label: row["label"] as string | null,
    createdAt: Number(row["created_at"]),
    expiresAt: row["expires_at"] as number | null,
    revokedAt: row["revoked_at"] as number | null,
  };
}

export function createdToken({ secretHash: _, ...token }: NewToken, tenant: string): AccessToken {
  return { ...token, tenant, revokedAt: null };
}
