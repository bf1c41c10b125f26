/** Builds paths, queries, headers and bodies from a caller's input. */

import { toWireFields, toWireName, toWireTime } from "../api/wire.ts";
import type { CreateSessionInput } from "../engine/session-input.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe, type JsonObject, stringifyJson } from "../model/json.ts";
import { MAX_APPEND_REQUEST_BYTES } from "../model/limits.ts";

/** Checks that a call's fields are all known, as the library does. */
export function known<Input extends object>(
  call: keyof typeof INPUTS,
  input: Input,
  what = "options",
): Input {
  return checkFields(input, what, INPUTS[call] as never);
}

/** The same, as it is sent: times as text, without what stays in this process. */
export function sent(
  call: keyof typeof INPUTS,
  input: object,
  what?: string,
): Record<string, unknown> {
  const kinds: Readonly<Record<string, unknown>> = INPUTS[call];
  const fields = Object.entries(known(call, input, what)).flatMap(([name, value]) => {
    if (value === undefined || LOCAL.includes(kinds[name])) return [];
    return [[name, kinds[name] === "time" ? toTimeText(value as Date, name) : value] as const];
  });
  return Object.fromEntries(fields);
}

/** Kinds of values that stay in this process. */
const LOCAL: readonly unknown[] = ["signal", "callback"];

export type QueryValue = string | number | boolean | undefined;

/** A path with encoded ids: one may hold a slash. */
export function at(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeId));
}

export function encodeId(id: string): string {
  if (typeof id !== "string") throw invalid("id", `an id must be a string, not ${describe(id)}`);
  // A URL treats dot segments as navigation, in any encoding.
  if (id === "" || id === "." || id === ".." || !id.isWellFormed() || id.includes("\0")) {
    throw invalid("id", `"${id.toWellFormed()}" cannot be asked for over the network`);
  }
  return encodeURIComponent(id);
}

/** The given fields by their wire names. */
export function toQuery(fields: object): Record<string, QueryValue> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [toWireName(name), value as QueryValue]));
}

/**
 * The JSON of a request. A value that `JSON.stringify` would drop or change is an error that names
 * its place, as in the library.
 */
export function toBody(fields: object): string {
  const members = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(toWireName(name))}:${stringifyJson(value, name)}`);
  return `{${members.join(",")}}`;
}

/**
 * An append is atomic, so one that exceeds a request is refused, as by the library, and never
 * split.
 */
export function checkBatchBody(body: string): string {
  // UTF-8 takes one to three bytes per UTF-16 unit.
  if (body.length * 3 <= MAX_APPEND_REQUEST_BYTES) return body;
  const bytes = new TextEncoder().encode(body).length;
  if (bytes <= MAX_APPEND_REQUEST_BYTES) return body;
  throw new BackscrollError(
    "too_large",
    `the messages of one append take ${bytes} bytes; the limit is ${MAX_APPEND_REQUEST_BYTES}: append in several calls, each of which is atomic`,
    { details: { field: "messages", limit: MAX_APPEND_REQUEST_BYTES, actual: bytes } },
  );
}

/** Times are given as epoch milliseconds or as a Date, as in the library. */
export function toTimeText(value: number | Date, field: string): string {
  const ms = value instanceof Date ? value.getTime() : value;
  if (Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_TIME) return toWireTime(ms);
  throw invalid(field, `${field} must be a Date or a time in milliseconds since 1970`);
}

/** The end of the year 9999: later years have five digits. */
const MAX_TIME = Date.UTC(10_000, 0) - 1;

/** The times among `fields`, as text. */
export function toTimes(fields: Readonly<Record<string, number | Date | undefined>>): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, toTimeText(value, name)]],
    ),
  );
}

/** The idempotency key of a write: the caller's, or a random one. */
export function keyHeader(key: string | undefined): Record<string, string> {
  if (key === undefined) return { "idempotency-key": newKey() };
  return { "idempotency-key": checkHeader(key, "idempotencyKey") };
}

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `If-Match` with the leaf that the caller expects; empty quotes for an empty session. */
export function leafHeader(leaf: string | null | undefined): Record<string, string> {
  if (leaf === undefined) return {};
  return { "if-match": `"${leaf === null ? "" : checkHeader(leaf, "expectedLeaf")}"` };
}

function checkHeader(value: string, field: string): string {
  if (typeof value === "string" && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    return value;
  }
  throw invalid(field, `over the network ${field} must be visible ASCII characters`);
}

/** Refuses options with functions, which cannot be sent. */
export function refuseCode(input: object, fields: readonly string[]): void {
  for (const field of fields) {
    const value = (input as Record<string, unknown>)[field];
    if (typeof value !== "function" && (typeof value !== "object" || value === null)) continue;
    throw invalid(
      field,
      `${field} is code of this process and cannot be sent to a server; leave it out, or open the store itself`,
    );
  }
}

export function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

export function toWireNew(create: CreateSessionInput, what: string): JsonObject {
  const { startedAt, origin, ...rest } = known("createSession", create, what);
  const fields = {
    ...rest,
    ...toTimes({ startedAt }),
    ...(origin === undefined
      ? {}
      : { origin: toWireFields({ ...known("createSession.origin", origin, "origin") }) }),
  };
  return toWireFields(fields as JsonObject);
}
