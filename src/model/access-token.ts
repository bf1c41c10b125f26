/** Access tokens of remote callers. */

import type { Access, AccessScope } from "./access.ts";

/** A share token opens one session for reading; the API refuses it. */
export const SHARE_SCOPE = "share";

/** A token without its secret. */
export interface AccessToken {
  readonly id: string;
  readonly tenant: string;
  readonly scope: AccessScope | typeof SHARE_SCOPE;
  readonly actor: string | null;
  readonly actAs: Access["actAs"];
  readonly operator: boolean;
  /** A label; for a share, the session's id. */
  readonly label: string | null;
  readonly createdAt: number;
  /** Expiry; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}
