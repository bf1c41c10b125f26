/** JSON Schemas of the OpenAPI document as words and rows, for people. */

export type Schema = Readonly<Record<string, unknown>>;
export type Components = Readonly<Record<string, Schema>>;

export interface FieldRow {
  /** `messages[].role`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** The depth of nested objects shown; deeper ones are in the OpenAPI document. */
const MAX_DEPTH = 4;

export function resolve(schema: Schema, components: Components): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  return components[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {};
}

/** `integer, at least 0`, `one of user, assistant`, `list of string, at most 100`. */
export function typeWords(given: Schema, components: Components, depth = 0): string {
  const schema = resolve(given, components);
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
  if (choices !== undefined) {
    return [...new Set(choices.map((each) => typeWords(each, components, depth)))].join(" or ");
  }
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const values = schema["enum"] as readonly unknown[] | undefined;
  if (values !== undefined) return `one of ${values.map(String).join(", ")}`;
  const type = schema["type"];
  if (type === "array") return listWords(schema, components, depth);
  if (type === "string") return stringWords(schema);
  if (type === "integer" || type === "number") {
    return [String(type), ...bounds(schema["minimum"], schema["maximum"], "")].join(", ");
  }
  return typeof type === "string" ? type : "any JSON";
}

function listWords(schema: Schema, components: Components, depth: number): string {
  const items = schema["items"] as Schema | undefined;
  const of =
    items === undefined || depth > 2 ? "" : ` of ${typeWords(items, components, depth + 1)}`;
  return [`list${of}`, ...bounds(schema["minItems"], schema["maxItems"], "")].join(", ");
}

function stringWords(schema: Schema): string {
  if (schema["format"] === "date-time") return "time in ISO 8601";
  if (schema["contentEncoding"] === "base64" || schema["format"] === "base64") return "base64";
  const pattern = schema["pattern"];
  if (pattern === "^\\d{1,15}$") return "whole number";
  return ["string", ...bounds(schema["minLength"], schema["maxLength"], " characters")].join(", ");
}

function bounds(least: unknown, most: unknown, unit: string): string[] {
  const most_ = typeof most === "number" && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  return [
    ...(typeof least === "number" && least > -Number.MAX_SAFE_INTEGER
      ? [`at least ${least}${most_ === undefined ? unit : ""}`]
      : []),
    ...(most_ === undefined ? [] : [`at most ${most_.toLocaleString("en")}${unit}`]),
  ];
}

/** The fields of an object, including nested objects and lists of objects. */
export function fieldRows(
  given: Schema,
  components: Components,
  prefix = "",
  depth = 0,
): FieldRow[] {
  const schema = resolve(given, components);
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  return Object.entries(properties).flatMap(([name, member]) => {
    const known = resolve(member, components);
    const description = String(member["description"] ?? known["description"] ?? "");
    const row = {
      name: prefix + name,
      type: typeWords(member, components),
      required: required.has(name),
      description,
    };
    const inner = innerOf(known, components);
    if (inner === undefined || depth + 1 >= MAX_DEPTH) return [row];
    const below = fieldRows(inner.schema, components, `${prefix}${name}${inner.mark}`, depth + 1);
    return [row, ...below];
  });
}

/** The object of a field or of its list; of several forms, the one with fields. */
function innerOf(
  schema: Schema,
  components: Components,
): { readonly schema: Schema; readonly mark: string } | undefined {
  const forms = ((schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined) ?? [schema];
  for (const form of forms.map((each) => resolve(each, components))) {
    if (form["properties"] !== undefined) return { schema: form, mark: "." };
    const items = form["items"] as Schema | undefined;
    if (items === undefined) continue;
    const inner = innerOf(resolve(items, components), components);
    if (inner !== undefined) return { schema: inner.schema, mark: `[]${inner.mark}` };
  }
  return undefined;
}
