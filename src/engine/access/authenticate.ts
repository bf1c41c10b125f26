/** Authenticates a caller's token. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Access, type AccessToken, SHARE_SCOPE } from "../../model/access.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * The text of a token: `bsk_`, its id, `_`, its secret. A share's begins with `bss_`.
 *
 * The id is looked up, the secret compared. The secret is 256 random bits, so one round of SHA-256
 * protects it from readers of the store.
 */

const SECRET_BYTES = 32;

/** A ULID, and the secret in base64url. */
const TOKEN = /^(bsk|bss)_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/;

type TokenPrefix = "bsk" | "bss";

/** From the system's random source, independent of the host's source for ids. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export function formatToken(id: string, secret: string, prefix: TokenPrefix = "bsk"): string {
  return `${prefix}_${id}_${secret}`;
}

/** Undefined if `text` is not a token of this kind. */
export function parseToken(
  text: unknown,
  prefix: TokenPrefix = "bsk",
): { readonly id: string; readonly secret: string } | undefined {
  const [, kind, id, secret] = (typeof text === "string" && TOKEN.exec(text)) || [];
  if (kind !== prefix || id === undefined || secret === undefined) return undefined;
  return { id, secret };
}

/** Hash of the text, not of the decoded bytes: several texts decode to the same bytes. */
export function hashSecret(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

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
