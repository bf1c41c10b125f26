/** Items as JSON, and back: bytes survive, and equal items have equal texts. */

import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject, type JsonValue, stringifyJson } from "../../model/json.ts";
import { MAX_JSON_DEPTH } from "../../model/limits.ts";

/** Stands for bytes, in base64. An object of the caller's that has one of these names is wrapped. */
const BYTES = "$bytes";
const WRAPPED = "$object";

/**
 * JSON of an item. Throws `invalid_input` for values that JSON cannot hold, except bytes, and
 * `too_large` for deep nesting.
 */
export function toItemJson(value: unknown, depth = 0): JsonValue {
  if (value instanceof Uint8Array) return { [BYTES]: toBase64(value) };
  if (depth > MAX_JSON_DEPTH) throw tooDeep();
  if (Array.isArray(value)) return value.map((member) => toItemJson(member, depth + 1));
  if (!isPlainObject(value)) return value as JsonValue;
  checkNames(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const fields = Object.fromEntries(
    entries.map(([name, member]) => [name, toItemJson(member, depth + 1)]),
  );
  return BYTES in fields || WRAPPED in fields ? { [WRAPPED]: fields } : fields;
}

function tooDeep(): BackscrollError {
  return new BackscrollError(
    "too_large",
    `an item nests deeper than ${MAX_JSON_DEPTH} levels, or refers to itself; flatten it`,
    { details: { field: "item", limit: MAX_JSON_DEPTH } },
  );
}

/** Refuses properties that JSON would silently drop, because they are not enumerable. */
function checkNames(value: object): void {
  const hidden = Reflect.ownKeys(value).find(
    (name) => typeof name === "symbol" || !Object.prototype.propertyIsEnumerable.call(value, name),
  );
  if (hidden === undefined) return;
  throw new BackscrollError(
    "invalid_input",
    `an item has a hidden field (${String(hidden)}), which JSON cannot hold; make it enumerable or remove it`,
    { details: { field: "item" } },
  );
}

export function fromItemJson(json: JsonValue): unknown {
  if (Array.isArray(json)) return json.map((member) => fromItemJson(member));
  if (!isPlainObject(json)) return json;
  const fields = json as Readonly<Record<string, JsonValue>>;
  const { [BYTES]: bytes, [WRAPPED]: wrapped } = fields;
  if (typeof bytes === "string") return fromBase64(bytes);
  return fromFields((wrapped ?? fields) as Readonly<Record<string, JsonValue>>);
}

/** The same text for items that differ only in the order of fields. */
export function canonicalText(json: JsonValue): string {
  return stringifyJson(sorted(json), "item");
}

function sorted(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(sorted);
  if (!isPlainObject(json)) return json;
  const names = Object.keys(json).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(json[name] as JsonValue)]));
}

function fromFields(fields: Readonly<Record<string, JsonValue>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, member]) => [name, fromItemJson(member)]),
  );
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
