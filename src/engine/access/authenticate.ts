/** Authenticates a caller's token. */

import { timingSafeEqual } from "node:crypto";
import type { Access } from "../../model/access.ts";
import { type AccessToken, SHARE_SCOPE } from "../../model/access-token.ts";
import type { EngineContext } from "../engine-context.ts";
import { hashSecret, parseToken, type TokenPrefix } from "./token-text.ts";

/** Compared with the secret of an unknown token: constant time in both cases. */
const NO_HASH = new Uint8Array(32);

/**
 * Undefined if the token is malformed, unknown, expired or revoked. Reads the store each time, so a
 * revocation takes effect with the next call on every node.
 */
export async function authenticate(
  host: Pick<EngineContext, "store" | "now">,
  text: string,
): Promise<Access | undefined> {
  const token = await findValidToken(host, text, "bsk");
  if (token === undefined || token.scope === SHARE_SCOPE) return undefined;
  const { id, tenant, scope, actor, actAs, operator } = token;
  return { tenant, scope, actor, actAs, operator, tokenId: id };
}

/** The token of `text`, if its secret matches and it is valid. */
export async function findValidToken(
  host: Pick<EngineContext, "store" | "now">,
  text: string,
  prefix: TokenPrefix,
): Promise<AccessToken | undefined> {
  const parsed = parseToken(text, prefix);
  if (parsed === undefined) return undefined;
  const found = await host.store.findToken(parsed.id);
  const isRight = timingSafeEqual(hashSecret(parsed.secret), found?.secretHash ?? NO_HASH);
  if (found === undefined || !isRight) return undefined;
  const { expiresAt, revokedAt } = found.token;
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= host.now())) return undefined;
  return found.token;
}
