/** Answers a request by its route: path parameters, query, preconditions, body, handler. */

import { BackscrollError } from "../model/errors.ts";
import { readJson } from "./body.ts";
import { check } from "./check.ts";
import type { Caller, Route, RouteInput } from "./route.ts";

const JSON_TYPE = { "content-type": "application/json" } as const;

/** Checks the request, and answers it by the route's handler. */
export async function answerRoute(route: Route, caller: Caller): Promise<Response> {
  const { request } = caller;
  const url = new URL(request.url);
  const params = check(route.params, pathParams(route.path, url.pathname), "path");
  const query = check(route.query, queryParams(url.searchParams), "query");
  const body = route.body === undefined ? undefined : await checkedBody(route, caller);
  if (route.act !== undefined) await caller.tenant.noteAct(route.act);
  const result = await readByAnyName(route, caller, { params, query, body });
  if (result instanceof Response) return result;
  if (result === undefined || route.answer.status === 204)
    return new Response(null, { status: 204 });
  return new Response(JSON.stringify(result), { status: route.answer.status, headers: JSON_TYPE });
}

/**
 * Reads accept a short id, or the agent's own id, as a `session_id`. Writes accept only the full
 * id: a mistyped one must not change another session.
 */
async function readByAnyName(
  route: Route,
  caller: Caller,
  input: RouteInput<Record<string, unknown>, Record<string, unknown>, unknown>,
): Promise<unknown> {
  if (route.scope !== "read") return route.handle(caller, input);
  const query = await withResolvedSession(caller, input.query);
  const named = input.params["session_id"];
  try {
    return await route.handle(caller, { ...input, query });
  } catch (error) {
    if (!BackscrollError.is(error, "session_not_found") || typeof named !== "string") throw error;
    const params = await withResolvedSession(caller, input.params);
    if (params["session_id"] === named) throw error;
    return route.handle(caller, { ...input, params, query });
  }
}

async function withResolvedSession(
  { tenant }: Caller,
  fields: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const named = fields["session_id"];
  if (typeof named !== "string") return fields;
  return { ...fields, session_id: await tenant.resolveSessionId(named) };
}

async function checkedBody(route: Route, { request, allowance }: Caller): Promise<unknown> {
  const value = await readJson(request, route.limits, allowance);
  return allowance.run(() => check(route.body as NonNullable<Route["body"]>, value, "body"));
}

/** By the pattern's own segments: names are decoded one by one, because one may hold a slash. */
function pathParams(pattern: string, path: string): Record<string, string> {
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

function queryParams(search: URLSearchParams): Record<string, string | string[]> {
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
