/**
 * The text of a token: `bsk_`, its id, `_`, its secret. A share's begins with `bss_`.
 *
 * The id is looked up, the secret compared. The secret is 256 random bits, so one round of SHA-256
 * protects it from readers of the store.
 */

import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;

/** A ULID, and the secret in base64url. */
const TOKEN = /^(bsk|bss)_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/;

export type TokenPrefix = "bsk" | "bss";

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
