/**
 * Checks callers' JSON before anything is stored.
 *
 * A value that `JSON.stringify` would drop, change or refuse (a BigInt, a cycle, a function, deep
 * nesting) is an error that names its place.
 */

import { BackscrollError } from "./errors.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Serialises `value`, or throws `invalid_input` naming the place below `field` that is not JSON. */
export function stringifyJson(value: unknown, field: string): string {
  checkJson(value, field);
  return JSON.stringify(value);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isForeignObject(prototype);
}

/** An object literal of another realm (a worker, a test sandbox) has that realm's prototype. */
function isForeignObject(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** An explicit stack, so that deep nesting cannot overflow the call stack. */
function checkJson(root: unknown, field: string): void {
  const todo: { value: unknown; path: string; depth: number }[] = [
    { value: root, path: field, depth: 0 },
  ];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { value, path, depth } = next;
    if (value === null || typeof value === "string" || typeof value === "boolean") continue;
    if (typeof value === "number" && Number.isFinite(value)) continue;
    if (depth > MAX_JSON_DEPTH) {
      throw new BackscrollError(
        "too_large",
        `${field} nests deeper than ${MAX_JSON_DEPTH} levels, or refers to itself; flatten it, or pass it as a JSON string`,
        { details: { field, limit: MAX_JSON_DEPTH, actual: depth } },
      );
    }
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        todo.push({ value: value[i], path: `${path}[${i}]`, depth: depth + 1 });
      }
    } else if (isPlainObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        // An undefined member is absent, as in `JSON.stringify`.
        if (member !== undefined)
          todo.push({ value: member, path: `${path}.${key}`, depth: depth + 1 });
      }
    } else {
      throw new BackscrollError(
        "invalid_input",
        `${path.slice(0, 200)} is ${describe(value)}, which JSON cannot hold; convert it to a string or a number first`,
        { details: { field: path.slice(0, 200) } },
      );
    }
  }
}

/** Structural equality, ignoring the order of members. */
export function isSameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => isSameJson(item, b[i]));
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) => Object.hasOwn(b, name) && isSameJson(a[name] as JsonValue, b[name] as JsonValue),
    )
  );
}

/** The kind of `value`, for an error message. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : String(value);
  if (isPlainObject(value)) return "an object";
  if (typeof value === "object") return `a ${value.constructor?.name ?? "object"}`;
  return typeof value === "undefined" ? "missing" : `a ${typeof value}`;
}
