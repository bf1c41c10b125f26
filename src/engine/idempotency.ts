/** Idempotency keys of requests. */

import { checkName } from "../model/ids.ts";
import type { Idempotency } from "../store/records.ts";
import { sha256, toHex } from "../transcript/hash.ts";

/**
 * The idempotency field of a request, to be spread into it. `request` gives the input without
 * generated ids and times: a repeated call must give the same hash.
 */
export function idempotency(
  key: string | undefined,
  request: () => unknown,
  isLasting = false,
): { readonly idempotency?: Idempotency } {
  if (key === undefined) return {};
  return {
    idempotency: {
      key: checkName(key, "idempotencyKey"),
      requestHash: toHex(sha256(Buffer.from(JSON.stringify(request())))),
      ...(isLasting ? { isLasting } : {}),
    },
  };
}
