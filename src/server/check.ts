/** What a request holds against what its route takes: one clear error that names the field. */

import type { z } from "zod";
import { BackscrollError } from "../model/errors.ts";

type Issue = z.core.$ZodIssue;

/** Gives the value under the schema's types, or throws `invalid_input` or `too_large`. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: "path" | "query" | "body",
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw toError(deepest(result.error.issues[0] as Issue), what);
}

/** Of a value that may be one thing or another, the reading that came furthest tells most. */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((each) => deepest(each))
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (inner === undefined || inner.path.length === 0) return issue;
  return { ...inner, path: [...issue.path, ...inner.path] };
}

function toError(issue: Issue, what: string): BackscrollError {
  const at = toPath(issue.path);
  const name = at === "" ? what : at;
  if (issue.code === "unrecognized_keys") {
    const key = String(issue.keys[0]).slice(0, 80);
    const field = at === "" ? key : `${at}.${key}`;
    return invalid(field, `${name} has no field "${key}"`);
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
