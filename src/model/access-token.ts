/** Access tokens of remote callers. */

import type { FieldsOf } from "./shape.ts";

/** A share token opens one session for reading; the API refuses it. */
export const SHARE_SCOPE = "share";

const TOKEN_SCOPES = ["read", "write", "admin", "share"] as const;

export const ACCESS_TOKEN = {
  id: "text",
  tenant: "text",
  scope: { one: TOKEN_SCOPES as typeof TOKEN_SCOPES },
  actor: "text|null",
  /** Names, or `"any"`. */
  actAs: "actors",
  operator: "flag",
  /** A label; for a share, the session's id. */
  label: "text|null",
  createdAt: "time",
  /** Expiry; null: never. */
  expiresAt: "time|null",
  revokedAt: "time|null",
} as const;

/** A token without its secret. */
export interface AccessToken extends FieldsOf<typeof ACCESS_TOKEN> {}
