/** Errors on the wire: a code, a sentence, details. */

import { BackscrollError, type ErrorCode, type ErrorDetails, messageOf } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { hidePasswords } from "./address.ts";
import { fromWireFields, fromWireName, toWireFields } from "./wire.ts";

export interface WireError {
  readonly error: {
    /** `internal_error` is a bug of ours, and the only code outside `ERROR_CODES`. */
    readonly code: ErrorCode | "internal_error";
    readonly message: string;
    readonly details: JsonObject;
  };
}

export function toWireError(error: unknown): WireError {
  if (BackscrollError.is(error)) {
    const details = Object.entries(error.details).map(([name, value]) => [
      name,
      typeof value === "string" ? hidePasswords(value) : value,
    ]);
    return {
      error: {
        code: error.code,
        message: hidePasswords(error.message),
        details: toWireFields(Object.fromEntries(details)),
      },
    };
  }
  const message = messageOf(error);
  return { error: { code: "internal_error", message: hidePasswords(message), details: {} } };
}

/** The inverse. A newer version's code is passed on. */
export function fromWireError(wire: WireError, more: ErrorDetails = {}): BackscrollError {
  const { code, message, details = {} } = wire.error;
  const own = fromWireFields(details) as ErrorDetails;
  const { field } = own;
  return new BackscrollError(code as ErrorCode, message, {
    details: {
      ...more,
      ...own,
      // Fields keep their own names.
      ...(typeof field === "string" ? { field: fromWireName(field) } : {}),
    },
  });
}
