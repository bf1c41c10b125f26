/** Access tokens: what lets a caller from outside in, and as whom. */

import type { Access, AccessScope } from "./access.ts";

/** A share opens one session for reading, and nothing else: no request of the API takes it. */
export const SHARE_SCOPE = "share";

/** What is known of a token. The secret in it is known to its holder alone. */
export interface AccessToken {
  readonly id: string;
  readonly tenant: string;
  readonly scope: AccessScope | typeof SHARE_SCOPE;
  readonly actor: string | null;
  readonly actAs: Access["actAs"];
  readonly operator: boolean;
  /** What somebody called it, to know it again; of a share, the id of its session. */
  readonly label: string | null;
  readonly createdAt: number;
  /** From then on it lets nobody in; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}
