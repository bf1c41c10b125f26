/** Checks a request against its route's schema: one clear error that names the field. */

import { z } from "zod";
import { BackscrollError } from "../model/errors.ts";
import { unknownField } from "../model/input.ts";

type Issue = z.core.$ZodIssue;

/** Gives the value under the schema's types, or throws `invalid_input` or `too_large`. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: "path" | "query" | "body",
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw toError(deepest(result.error.issues[0] as Issue), what, schema);
}

/** The issue of the union member that matched furthest: it explains most. */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((each) => deepest(each))
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (inner === undefined || inner.path.length === 0) return issue;
  return { ...inner, path: [...issue.path, ...inner.path] };
}

function toError(issue: Issue, what: string, schema: z.ZodType): BackscrollError {
  const at = toPath(issue.path);
  const name = at === "" ? what : at;
  if (issue.code === "unrecognized_keys") {
    const key = String(issue.keys[0]);
    const { message, details } = unknownField(key, name, knownAt(schema, issue.path));
    const shown = key.slice(0, 80);
    const field = at === "" ? shown : `${at}.${shown}`;
    return new BackscrollError("invalid_input", message, { details: { ...details, field } });
  }
  if (issue.code === "too_big") {
    const limit = Number(issue.maximum);
    return new BackscrollError(
      "too_large",
      `${name} may have at most ${limit}: ${issue.message.toLowerCase()}`,
      { details: { field: name, limit } },
    );
  }
  const isMissing = issue.code === "invalid_type" && issue.message.includes("received undefined");
  if (isMissing) return invalid(name, `${name} is missing`);
  return invalid(name, `${name}: ${decapitalise(issue.message)}`);
}

/** The part of JSON Schema that lists fields. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** The field names of the object at `path`; computed only for an error. */
function knownAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let shapes = [z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape];
  const unions = (shape: Shape): Shape[] => shape.anyOf?.flatMap(unions) ?? [shape];
  for (const part of path) {
    shapes = shapes.flatMap(unions).flatMap(({ properties, items }) => {
      const below = typeof part === "number" ? items : properties?.[String(part)];
      return below === undefined ? [] : [below];
    });
  }
  const names = shapes.flatMap(unions).flatMap(({ properties = {} }) => Object.keys(properties));
  return [...new Set(names)];
}

function toPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "")
    .slice(0, 200);
}

function decapitalise(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1, 300);
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
