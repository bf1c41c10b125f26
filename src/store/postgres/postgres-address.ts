/** `postgres://…` addresses: checked, and shown without their password. */

import { BackscrollError } from "../../model/errors.ts";

/** Throws `invalid_address`. The message does not repeat the address, which may hold a password. */
export function parseAddress(address: string): URL {
  try {
    return new URL(address);
  } catch {
    throw new BackscrollError(
      "invalid_address",
      "the address is not of the form postgres://user:password@host:port/database; encode special characters of the password as %XX",
    );
  }
}

/** What may be shown of an address: user, host, port and database. */
export function publicAddress(url: URL): string {
  const user = url.username === "" ? "" : `${url.username}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}
