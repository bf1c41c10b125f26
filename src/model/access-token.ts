/** Access tokens: what lets a caller from outside in, and as whom. */

import type { Access, AccessScope } from "./access.ts";

/** What is known of a token. The secret in it is known to its holder alone. */
export interface AccessToken {
  readonly id: string;
  readonly tenant: string;
  readonly scope: AccessScope;
  readonly actor: string | null;
  readonly actAs: Access["actAs"];
  readonly operator: boolean;
  /** What somebody called it, to know it again. */
  readonly label: string | null;
  readonly createdAt: number;
  /** From then on it lets nobody in; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}
