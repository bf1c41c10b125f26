/** From the token that a caller has shown to what it may do. */

import { timingSafeEqual } from "node:crypto";
import type { Access } from "../../model/access.ts";
import type { Scope } from "../scope.ts";
import { hashSecret, parseToken } from "./token-text.ts";

/** What the secret is compared with where there is no such token: as much work as where there is. */
const NO_HASH = new Uint8Array(32);

/**
 * Undefined if the token is malformed, unknown, expired or revoked. Asks the store each time, so that
 * a token that was revoked anywhere lets nobody in from the next call on.
 */
export async function authenticate(
  host: Pick<Scope, "store" | "now">,
  text: string,
): Promise<Access | undefined> {
  const parsed = parseToken(text);
  if (parsed === undefined) return undefined;
  const found = await host.store.findToken(parsed.id);
  const isRight = timingSafeEqual(hashSecret(parsed.secret), found?.secretHash ?? NO_HASH);
  if (found === undefined || !isRight) return undefined;
  const { id, tenant, scope, actor, actAs, operator, expiresAt, revokedAt } = found.token;
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= host.now())) return undefined;
  return { tenant, scope, actor, actAs, operator, tokenId: id };
}
