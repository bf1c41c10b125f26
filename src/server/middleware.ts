/**
 * What happens to every request around its handler, as middlewares in the order in which `app.ts`
 * lists them: the outermost first.
 */

import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { type Access, requireScope } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import { type AdmissionOptions, admit, checkSite, checkSource } from "./admission.ts";
import { type BodyAllowance, isLargeBody } from "./body.ts";
import { type Subscribers, whileAdmitted } from "./live.ts";
import type { Budget, RateLimiter, Ticket } from "./load/budget.ts";
import type { WorkShare } from "./load/work-share.ts";
import { staysOnMachine } from "./local-access.ts";
import type { LogRequest } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { toProblemResponse } from "./problem.ts";

/** Node's objects, from its adapter. */
interface Bindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string } };
  readonly outgoing?: { destroy(): void };
}

interface Variables {
  readonly id: string;
  /** The pattern of the route; absent: none matches. */
  readonly route?: string;
  readonly access?: Access;
  /** Of an admitted caller. */
  readonly allowance?: BodyAllowance;
  /** Counts the request as in progress. */
  readonly ticket?: Ticket;
  readonly failure?: unknown;
  /** Aborted by a newer request of the connection. */
  readonly latest?: AbortSignal;
}

interface AppEnv {
  Bindings: Bindings;
  Variables: Variables;
}

export type App = Hono<AppEnv>;
export type AppContext = Context<AppEnv>;
type Middleware = MiddlewareHandler<AppEnv>;

/** The identity of the request's connection. */
export function connectionOf(c: AppContext): object {
  return c.env.incoming?.socket ?? {};
}

export function addressOf(c: AppContext): string {
  return c.env.incoming?.socket.remoteAddress ?? "";
}

/** Replaces the response: assigning alone would merge the headers of both. */
function replace(c: AppContext, response: Response): void {
  c.res = undefined;
  c.res = response;
}

/** Without event streams: their events must not be buffered. */
const PACKED = /^(application\/(problem\+)?json|application\/octet-stream|text\/(?!event-stream))/;

/**
 * Compresses answers with gzip, for callers that accept it, where it pays. On loopback it does not:
 * compressing takes longer than copying. HEAD gets no body.
 */
export const packed: Middleware = async (c, next) => {
  await next();
  const request = c.req.raw;
  if (request.method === "HEAD") {
    // Do not start a stream.
    await c.res.body?.cancel();
    return replace(c, new Response(null, c.res));
  }
  if (!staysOnMachine(addressOf(c), request.headers) && accepts(request)) pack(c);
};

function accepts({ headers }: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(headers.get("accept-encoding") ?? "");
}

function pack(c: AppContext): void {
  const { headers, status, body } = c.res;
  if (headers.has("content-encoding") || !PACKED.test(headers.get("content-type") ?? "")) return;
  if (body === null) return;
  const changed = new Headers(headers);
  changed.set("content-encoding", "gzip");
  changed.append("vary", "accept-encoding");
  const plain = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  const gzip = createGzip();
  plain.on("error", (error) => gzip.destroy(error));
  const stream = Readable.toWeb(plain.pipe(gzip)) as ReadableStream<Uint8Array>;
  replace(c, new Response(stream, { status, headers: changed }));
}

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

/**
 * On every response: its id, no type sniffing, no embedding in foreign pages; and CORS: no foreign
 * page may read answers, except those of the configured origins.
 */
export function marked({ origins }: AdmissionOptions): Middleware {
  return async (c, next) => {
    await next();
    const { headers } = c.res;
    headers.set("x-request-id", c.get("id"));
    headers.set("x-content-type-options", "nosniff");
    headers.set("cross-origin-resource-policy", "same-origin");
    if (origins.size === 0) return;
    headers.set("vary", "origin");
    const origin = c.req.raw.headers.get("origin");
    if (origin === null || !origins.has(origin)) return;
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", EXPOSED);
  };
}

/** The answer to a browser that asks whether a page may call. */
export function preflight(request: Request, { origins }: AdmissionOptions): Response {
  const origin = request.headers.get("origin");
  if (origin === null || !origins.has(origin)) return new Response(null, { status: 204 });
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": [
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
        "backscroll-tools",
      ].join(", "),
      "access-control-max-age": "600",
    },
  });
}

/** Counts and logs the request, under the caller's id, if it is a plain one; else under a new id. */
export function recorded(metrics: Metrics, log: LogRequest): Middleware {
  return async (c, next) => {
    const started = performance.now();
    const { method, headers } = c.req.raw;
    const given = headers.get("x-request-id");
    const isPlain = given !== null && /^[\w.:-]{1,128}$/.test(given);
    c.set("id", isPlain ? given : crypto.randomUUID());
    await next();
    const seconds = (performance.now() - started) / 1000;
    const route = c.get("route") ?? "none";
    const { status } = c.res;
    metrics.record(method, route, status, seconds);
    if (c.get("failure") !== undefined) metrics.recordFailure(c.get("failure"));
    log({
      requestId: c.get("id"),
      method,
      route,
      status,
      ms: Math.round(seconds * 1e5) / 100,
      access: c.get("access"),
      failure: c.get("failure"),
    });
  };
}

/** The logged status of a request whose caller has left, as in proxies. Never sent. */
const GONE = 499;

export function answerError(error: unknown, c: AppContext): Response {
  if (!BackscrollError.is(error) && c.req.raw.signal.aborted) {
    return new Response(null, { status: GONE });
  }
  c.set("failure", error);
  return toProblemResponse(error, c.get("id"));
}

/**
 * The charge of a refused large body to its tenant, in milliseconds of work. Otherwise a tenant
 * that sends only such bodies would keep the server busy with refusals: beside other tenants, three
 * a second are answered.
 */
const REFUSED_MS = 75;

/** Ends the count of the request as one in progress, after the charge of a refusal. */
export function counted(share: WorkShare): Middleware {
  return async (c, next) => {
    try {
      await next();
      const access = c.get("access");
      const isRefused = c.res.status >= 400 && c.res.status < 500;
      if (access === undefined || !isRefused || !isLargeBody(c.req.raw.headers)) return;
      share.charge(access.tenant, REFUSED_MS);
      await share.settle(access.tenant);
    } finally {
      c.get("ticket")?.leave();
    }
  };
}

/** Ends event streams when their caller's access ends. */
export function watched(admission: AdmissionOptions, live: Subscribers): Middleware {
  return async (c, next) => {
    await next();
    const access = c.get("access");
    const { body, headers } = c.res;
    if (access === undefined || body === null) return;
    if (!headers.get("content-type")?.startsWith("text/event-stream")) return;
    const admitAgain = async () => {
      requireScope(await admit(c.req.raw.headers, admission, connectionOf(c)), access.scope);
    };
    replace(c, new Response(whileAdmitted(body, admitAgain, live.heartbeatMs), c.res));
  };
}

/** Refuses a foreign Host or Origin. */
export function fromHere(admission: AdmissionOptions): Middleware {
  return async (c, next) => {
    checkSource(c.req.raw.headers, admission);
    await next();
  };
}

/** Of one route: names it for metrics and logs. */
export function named(route: string): Middleware {
  return async (c, next) => {
    c.set("route", route);
    await next();
  };
}

export interface AdmittingParts {
  readonly admission: AdmissionOptions;
  readonly limiter?: RateLimiter;
  readonly budget: Budget;
  readonly share: WorkShare;
  /** How long a body may keep the server waiting. */
  readonly bodyPatienceMs?: number;
}

/** Of one route: authenticates the request, and counts it as in progress. */
export function admitted(parts: AdmittingParts): Middleware {
  const { admission, limiter, budget, share, bodyPatienceMs: patienceMs } = parts;
  return async (c, next) => {
    const { headers } = c.req.raw;
    checkSite(headers);
    const access = await admit(headers, admission, connectionOf(c));
    c.set("access", access);
    limiter?.take(access.tokenId ?? addressOf(c));
    const { tenant } = access;
    const ticket = budget.enter(tenant);
    c.set("ticket", ticket);
    share.saw(tenant);
    c.set("allowance", {
      hold: ticket.hold,
      run: (work) => share.run(tenant, work),
      charge: (ms) => share.charge(tenant, ms),
      ...(patienceMs === undefined ? {} : { patienceMs }),
    });
    await next();
  };
}

/** The access and allowance of an admitted caller. */
export function entered(c: AppContext): {
  readonly access: Access;
  readonly allowance: BodyAllowance;
} {
  return {
    access: c.get("access") as Access,
    allowance: c.get("allowance") as BodyAllowance,
  };
}

/**
 * Of one route: only the newest search of a connection continues. Search-as-you-type sends one per
 * keystroke and needs only the last answer. Connections of HTTP/1.1 carry several at once if the
 * caller sends the next one before the first is answered.
 */
export function newestWins(): Middleware {
  const running = new WeakMap<object, AbortController>();
  return async (c, next) => {
    const connection = connectionOf(c);
    running.get(connection)?.abort(superseded());
    const own = new AbortController();
    running.set(connection, own);
    c.set("latest", own.signal);
    try {
      await next();
    } finally {
      if (running.get(connection) === own) running.delete(connection);
    }
  };
}

function superseded(): BackscrollError {
  return new BackscrollError(
    "search_superseded",
    "a newer search on the same connection took the place of this one",
  );
}
