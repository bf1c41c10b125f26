/** CORS: no foreign page may read answers, except those of the configured origins. */

const HEADERS = [
  "authorization",
  "content-type",
  "content-encoding",
  "idempotency-key",
  "if-match",
  "last-event-id",
  "x-request-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "backscroll-session",
].join(", ");

/** Response headers that a page may read beside the CORS-safelisted ones. */
const EXPOSED = [
  "etag",
  "x-request-id",
  "retry-after",
  "mcp-session-id",
  // Headers of a backup: a page that saves one can verify it.
  "content-digest",
  "backscroll-rows",
].join(", ");

export function corsHeaders(
  request: Request,
  origins: ReadonlySet<string>,
): readonly (readonly [string, string])[] {
  const origin = request.headers.get("origin");
  if (origins.size === 0) return [];
  if (origin === null || !origins.has(origin)) return [["vary", "origin"]];
  return [
    ["access-control-allow-origin", origin],
    ["access-control-expose-headers", EXPOSED],
    ["vary", "origin"],
  ];
}

export function preflight(request: Request, origins: ReadonlySet<string>): Response {
  const origin = request.headers.get("origin");
  if (origin === null || !origins.has(origin)) return new Response(null, { status: 204 });
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": HEADERS,
      "access-control-max-age": "600",
    },
  });
}
