/** Access tokens at the store port: with a hash instead of the secret. */

import type { AccessToken } from "../model/access-token.ts";

export interface NewToken extends Omit<AccessToken, "tenant" | "revokedAt"> {
  /** SHA-256 of the secret. */
  readonly secretHash: Uint8Array;
}

export interface TokenRecord {
  readonly token: AccessToken;
  readonly secretHash: Uint8Array;
}
