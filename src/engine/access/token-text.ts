/**
 * What a token looks like: `bsk_`, its id, `_`, its secret.
 *
 * The id is looked up, the secret is compared. The secret is 256 random bits, so one round of SHA-256
 * is enough to keep it from whoever reads the store: there is nothing to guess it by.
 */

import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;

/** A ULID, and the bytes of the secret in the alphabet of URLs. */
const TOKEN = /^bsk_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/;

/** From the system's own source, whatever the host has given for ids. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export function formatToken(id: string, secret: string): string {
  return `bsk_${id}_${secret}`;
}

/** Undefined if `text` is no token. */
export function parseToken(
  text: unknown,
): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = (typeof text === "string" && TOKEN.exec(text)) || [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Of the text as it is: several texts stand for the same bytes, and only one of them is the token. */
export function hashSecret(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}
