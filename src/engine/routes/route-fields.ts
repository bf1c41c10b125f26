/** Checks a route's fields: known ones by type, others as any JSON. */

import { checkText } from "../../model/ids.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { MAX_PATH_BYTES } from "../../model/limits.ts";
import type { RouteFields, SessionRoute } from "../../model/route.ts";
import { checkCount, checkMetadata, checkOneOf, invalid } from "../check.ts";

/** Null removes a field. */
export type RoutePatch = { readonly [Name in keyof RouteFields]?: RouteFields[Name] | null } & {
  readonly [name: string]: unknown;
};

type Check = (value: unknown, field: string) => unknown;

const text: Check = (value, field) => checkText(value, field, MAX_PATH_BYTES);
const count: Check = (value, field) => checkCount(value, field);
const oneOf =
  (...allowed: string[]): Check =>
  (value, field) =>
    checkOneOf(value, allowed, field);

const CHECKS: Readonly<Record<keyof RouteFields, Check>> = {
  sessionFile: text,
  chatType: oneOf("direct", "group", "channel", "room"),
  provider: text,
  subject: text,
  room: text,
  space: text,
  displayName: text,
  thinkingLevel: text,
  verboseLevel: text,
  reasoningLevel: text,
  elevatedLevel: text,
  sendPolicy: oneOf("allow", "deny"),
  providerOverride: text,
  modelOverride: text,
  authProfileOverride: text,
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  contextTokens: count,
  compactionCount: count,
  memoryFlushAt: count,
  memoryFlushCompactionCount: count,
};

/** The known names. */
export const ROUTE_FIELDS: readonly string[] = Object.keys(CHECKS);

/** Checks fields that replace all others. */
export function checkRouteFields(fields: unknown): SessionRoute["fields"] {
  const checked = checkRoutePatch(fields);
  const given = Object.entries(checked).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as SessionRoute["fields"];
}

export function checkRoutePatch(fields: unknown): JsonObject {
  const checked = checkMetadata(fields, "fields");
  if (isPlainObject(fields)) {
    // JSON would drop an undefined value, so it is refused.
    const missing = Object.keys(fields).find((name) => fields[name] === undefined);
    if (missing !== undefined) {
      throw invalid(`fields.${missing}`, `fields.${missing} is undefined; null removes a field`);
    }
  }
  for (const [name, check] of Object.entries(CHECKS)) {
    const value = Object.hasOwn(checked, name) ? checked[name] : null;
    if (value !== null && value !== undefined) check(value, `fields.${name}`);
  }
  return checked;
}
