/**
 * Errors on the wire: a code, a sentence, details; and addresses for display, since a password or a
 * token in one never leaves the process.
 */

import { BackscrollError, type ErrorCode, type ErrorDetails, messageOf } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
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

/** What precedes the password of a URL. */
const BEFORE_PASSWORD = /postgres(?:ql)?:\/\/[^/:@]*:/i;

/** The whole part for a server's address: a token may stand in place of a name. */
const SERVER_USER_INFO = /(https?:\/\/)[^\s/?#]*@/gi;

/** `?password=…`, which libpq accepts too, and tokens in a query. */
const SECRET_PARAMETER = /([?&#](?:password|sslpassword|token|access_token|key)=)[^\s&#]*/gi;

/** Replaces every secret in `text`, an address or a message with one. */
export function hidePasswords(text: string): string {
  return text
    .replace(/\S+/g, withoutPassword)
    .replace(SERVER_USER_INFO, "$1***@")
    .replace(SECRET_PARAMETER, "$1***");
}

/** An unencoded password may contain `@` or `/`: it ends at the last `@` of the word. */
function withoutPassword(word: string): string {
  const end = word.lastIndexOf("@");
  const before = end < 0 ? null : BEFORE_PASSWORD.exec(word.slice(0, end));
  if (before === null) return word;
  return `${word.slice(0, before.index + before[0].length)}***${word.slice(end)}`;
}
