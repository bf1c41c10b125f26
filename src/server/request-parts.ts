/** The input of a route: path parameters, query and preconditions. */

import { BackscrollError } from "../model/errors.ts";
import type { Caller, Route } from "./route.ts";

/** By the pattern's own segments: names are decoded one by one, because one may hold a slash. */
export function pathParams(pattern: string, path: string): Record<string, string> {
  const given = path.split("/");
  const params: Record<string, string> = {};
  for (const [i, segment] of pattern.split("/").entries()) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) params[name] = decode(given[i] ?? "", name);
  }
  return params;
}

function decode(text: string, field: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BackscrollError("invalid_input", `${field} in the path is not well encoded`, {
      details: { field },
    });
  }
}

export function queryParams(search: URLSearchParams): Record<string, string | string[]> {
  const params: Record<string, string | string[]> = {};
  for (const name of new Set(search.keys())) {
    const values = search.getAll(name);
    params[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return params;
}

export function preconditions(
  route: Route,
  headers: Headers,
): Pick<Caller, "idempotency" | "expected"> {
  const key = headers.get("idempotency-key");
  const leaf = headers.get("if-match");
  // Refused where it is unsupported, because the caller relies on it.
  if (key !== null && !route.takesKey) throw notTaken("Idempotency-Key");
  if (leaf !== null && !route.takesLeaf) throw notTaken("If-Match");
  return {
    idempotency: key === null ? {} : { idempotencyKey: key },
    expected: leaf === null ? {} : { expectedLeaf: parseLeaf(leaf) },
  };
}

function notTaken(header: string): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    `this route takes no ${header}; /v1/openapi.json says which do`,
    { details: { field: header.toLowerCase() } },
  );
}

/** `"01J…"` is a leaf; `""` an empty session. Compression makes it weak: `W/"01J…"`. */
function parseLeaf(header: string): string | null {
  const leaf = /^(?:W\/)?"([^"]{0,200})"$/.exec(header.trim())?.[1];
  if (leaf !== undefined) return leaf === "" ? null : leaf;
  throw new BackscrollError(
    "invalid_input",
    'If-Match must be the ETag of the session: its leaf in quotes, or "" if it is empty',
    { details: { field: "if-match" } },
  );
}
