/**
 * The server as a function from requests to responses: authentication, routing, errors. It opens no
 * socket.
 */

import { Hono } from "hono";
import { SHARE_PATH } from "../api/operations.ts";
import type { JsonBounds } from "../api/read-json.ts";
import type { OpenedShare } from "../engine/access/shares.ts";
import type { Engine } from "../engine/engine.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { GatewayConfig } from "../gateway/config/gateway-config.ts";
import { readConfig } from "../gateway/config/read-config.ts";
import { type Access, requireOperator, requireScope } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import { type AdmissionOptions, admit, checkSite, checkSource, withoutToken } from "./admission.ts";
import { type BodyAllowance, isLargeBody, readJson } from "./body.ts";
import { check } from "./check.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { whenEnded } from "./live/when-ended.ts";
import { whileAdmitted } from "./live/while-admitted.ts";
import { Subscribers } from "./live.ts";
import { Budget, type BudgetOptions, type Ticket } from "./load/budget.ts";
import { NewestSearch } from "./load/newest-search.ts";
import { WorkShare } from "./load/work-share.ts";
import type { LogRequest } from "./log.ts";
import { staysOnMachine } from "./loopback.ts";
import { Metrics, serverGauges } from "./metrics.ts";
import { pack } from "./pack.ts";
import { Page } from "./page.ts";
import { routeNotFound, toProblemResponse } from "./problem.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { Reference } from "./reference.ts";
import { pathParams, preconditions, queryParams } from "./request-parts.ts";
import type { Caller, CopyStore, Route, RouteInput } from "./route.ts";
import { copyHere } from "./routes/backup.ts";
import { ROUTES } from "./routes/index.ts";
import { deadSharePage, sharedPage } from "./routes/shares.ts";

export interface AppOptions {
  readonly engine: Engine;
  readonly version: string;
  readonly admission: AdmissionOptions;
  readonly limiter?: RateLimiter;
  /** Routing and resets of conversations. Default: the gateway's defaults. */
  readonly gateway?: GatewayConfig;
  /** Makes a copy of the whole store. Default: in this process. */
  readonly copyStore?: CopyStore;
  readonly live?: Subscribers;
  /** Limits of requests in progress. Default: `BUDGET`. */
  readonly budget?: BudgetOptions;
  /** The tenants' shares of the event loop. Default: `WORK_SHARE`. */
  readonly share?: WorkShare;
  /** How long a body may keep the server waiting. Default 30 s. */
  readonly bodyPatienceMs?: number;
  readonly log: LogRequest;
  /** Aborted when the server stops; ends event streams. */
  readonly stopping: AbortSignal;
  /** Answers requests to `/mcp`; `readBody` reads a request's JSON within bounds. */
  readonly mcp?: (
    request: Request,
    access: Access,
    cutOff: () => void,
    readBody: (bounds: JsonBounds) => Promise<unknown>,
  ) => Promise<Response>;
}

/** Node's objects, from its adapter. */
interface Bindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string } };
  readonly outgoing?: { destroy(): void };
}

/** A request, before and after its admission. */
interface Asked {
  readonly request: Request;
  /** The identity of the request's connection. */
  readonly connection: object;
  /** Authenticates the request and counts it as in progress. */
  readonly enter: () => Promise<Entered>;
  /** The same for share links: `open` gives the access, undefined refuses. */
  readonly enterBy: (
    open: () => Promise<OpenedShare | undefined>,
  ) => Promise<OpenedShare | undefined>;
  readonly cutOff: () => void;
}

interface Entered {
  readonly access: Access;
  readonly allowance: BodyAllowance;
}

/** On every response: no type sniffing, no embedding in foreign pages. */
const SAFETY_HEADERS = [
  ["x-content-type-options", "nosniff"],
  ["cross-origin-resource-policy", "same-origin"],
] as const;

/**
 * The charge of a refused large body to its tenant, in milliseconds of work. Otherwise a tenant
 * that sends only such bodies would keep the server busy with refusals: beside other tenants, three
 * a second are answered.
 */
const REFUSED_MS = 75;

/** The logged status of a request whose caller has left, as in proxies. Never sent. */
const GONE = 499;

type App = Hono<{ Bindings: Bindings }>;

export function createApp(options: AppOptions): App {
  const { engine, admission, limiter, log, stopping } = options;
  const live = options.live ?? new Subscribers();
  const metrics = new Metrics();
  const gateway = options.gateway ?? readConfig({}).config;
  const copyStore = options.copyStore ?? copyHere(engine);
  const budget = new Budget(options.budget);
  const share = options.share ?? new WorkShare();
  const newest = new NewestSearch();
  const { bodyPatienceMs: patienceMs } = options;
  const app: App = new Hono();

  const allowanceOf = ({ tenant }: Access, ticket: Ticket): BodyAllowance => ({
    hold: ticket.hold,
    run: (work) => share.run(tenant, work),
    charge: (ms) => share.charge(tenant, ms),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });

  /** Event streams end when their caller's access ends. */
  const keepWatch = (
    { request, connection }: Pick<Asked, "request" | "connection">,
    response: Response,
    access: Access,
  ): Response => {
    const { body, headers } = response;
    if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
      return response;
    }
    const admitAgain = async () => {
      requireScope(await admit(request.headers, admission, connection), access.scope);
    };
    return new Response(whileAdmitted(body, admitAgain, live.heartbeatMs), response);
  };

  /** Everything common to all requests, around one handler. */
  const serve = (method: string, pattern: string, answer: (asked: Asked) => Promise<Response>) =>
    app.on(method, pattern.replace(/\{(\w+)\}/g, ":$1"), async (c) => {
      const started = performance.now();
      const request = c.req.raw;
      const id = requestId(request.headers);
      const connection = c.env.incoming?.socket ?? {};
      let access: Access | undefined;
      let ticket: Ticket | undefined;
      const enter = async () => {
        checkSite(request.headers);
        access = await admit(request.headers, admission, connection);
        limiter?.take(access.tokenId ?? c.env.incoming?.socket.remoteAddress ?? "");
        ticket = budget.enter(access.tenant);
        share.saw(access.tenant);
        return { access, allowance: allowanceOf(access, ticket) };
      };
      const enterBy = async (open: () => Promise<OpenedShare | undefined>) => {
        limiter?.take(c.env.incoming?.socket.remoteAddress ?? "");
        const opened = await open();
        if (opened !== undefined) ticket = budget.enter(opened.tenant);
        return opened;
      };
      const payForRefusal = async (status: number) => {
        const isRefused = status >= 400 && status < 500;
        if (access === undefined || !isRefused || !isLargeBody(request.headers)) return;
        share.charge(access.tenant, REFUSED_MS);
        await share.settle(access.tenant);
      };
      let response: Response;
      let failure: unknown;
      try {
        checkSource(request.headers, admission);
        const cutOff = () => c.env.outgoing?.destroy();
        response = await answer({ request, connection, enter, enterBy, cutOff });
        // MCP returns its refusals instead of throwing.
        await payForRefusal(response.status);
        if (access !== undefined) response = keepWatch({ request, connection }, response, access);
      } catch (error) {
        const hasLeft = !BackscrollError.is(error) && request.signal.aborted;
        failure = hasLeft ? undefined : error;
        response = hasLeft ? new Response(null, { status: GONE }) : toProblemResponse(error, id);
        await payForRefusal(response.status);
      } finally {
        ticket?.leave();
      }
      const seconds = (performance.now() - started) / 1000;
      const name = pattern === "*" ? "none" : pattern;
      metrics.record(request.method, name, response.status, seconds);
      log({
        requestId: id,
        method: request.method,
        route: name,
        status: response.status,
        ms: Math.round(seconds * 1e5) / 100,
        access,
        failure,
      });
      response.headers.set("x-request-id", id);
      for (const [key, value] of SAFETY_HEADERS) response.headers.set(key, value);
      for (const [key, value] of corsHeaders(request, admission.origins)) {
        response.headers.set(key, value);
      }
      if (request.method !== "HEAD") {
        const isNear = staysOnMachine(c.env.incoming?.socket.remoteAddress, request.headers);
        return isNear ? response : pack(request, response);
      }
      // The caller has left: do not start a stream.
      await response.body?.cancel();
      return new Response(null, response);
    });

  serve("GET", "/healthz", async () => Response.json({ status: "ok" }));
  let checking: Promise<unknown> | undefined;
  serve("GET", "/readyz", async ({ request }) => {
    if (stopping.aborted) throw new BackscrollError("store_closed", "the server is stopping");
    checkSite(request.headers);
    // Single flight: concurrent requests share one query of the store.
    checking ??= engine.indexStatus().finally(() => {
      checking = undefined;
    });
    await checking;
    return Response.json({ status: "ready" });
  });
  serve("GET", "/metrics", async ({ enter }) => {
    requireOperator((await enter()).access);
    const text = metrics.text(await serverGauges(engine, live, budget));
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4" } });
  });
  const reference = new Reference(ROUTES, options.version);
  serve("GET", "/v1/openapi.json", async () => reference.document());
  serve("GET", "/docs", async () => reference.page());
  const page = new Page();
  serve("GET", "/", async ({ request, connection }) => {
    const access = withoutToken(admission, connection);
    const isForeign = access === undefined && admission.local?.userOf(connection) === "other";
    return page.document(request, access, isForeign ? 401 : 200);
  });
  const { local } = admission;
  if (local !== undefined) {
    serve("POST", "/local/code", async ({ enter }) => {
      requireOperator((await enter()).access);
      return local.answerCode();
    });
    serve("POST", "/local/token", async ({ request }) => {
      checkSite(request.headers);
      return local.answerToken(request);
    });
  }
  serve("GET", "/assets/{name}", ({ request }) => page.asset(request));
  serve("GET", `${SHARE_PATH}{token}`, async ({ request, enterBy }) => {
    const token = new URL(request.url).pathname.slice(SHARE_PATH.length);
    const opened = await enterBy(() => engine.openShare(token));
    return opened === undefined ? deadSharePage() : sharedPage(engine, opened);
  });
  for (const route of ROUTES) {
    serve(
      route.method.toUpperCase(),
      route.path,
      async ({ request, connection, enter, cutOff }) => {
        const latest = route.newestWins ? newest.begin(connection) : undefined;
        try {
          const { access, allowance } = await enter();
          requireScope(access, route.scope);
          if (route.operator) requireOperator(access);
          return await answerRoute(route, {
            engine,
            tenant: tenantOf(engine, access),
            access,
            request,
            allowance,
            live,
            cutOff,
            gateway,
            copyStore,
            // Created on demand: most requests end before their caller could leave.
            get signal() {
              const signals = [request.signal, stopping];
              return AbortSignal.any(latest === undefined ? signals : [...signals, latest.signal]);
            },
            ...preconditions(route, request.headers),
          });
        } finally {
          latest?.end();
        }
      },
    );
  }
  const { mcp } = options;
  if (mcp !== undefined) {
    for (const method of ["GET", "POST", "DELETE"]) {
      serve(method, "/mcp", async ({ request, enter, cutOff }) => {
        const { access, allowance } = await enter();
        let leave: (() => void) | undefined;
        const readBody = async (bounds: JsonBounds) => {
          const body = await readJson(request, bounds, allowance);
          if (isListening(body)) leave ??= live.enter(access.tenant);
          return body;
        };
        let events: ReadableStream<Uint8Array> | undefined;
        try {
          const response = await mcp(request, access, cutOff, readBody);
          if (leave === undefined || response.body === null) return response;
          events = whenEnded(response.body, leave);
          return new Response(events, response);
        } finally {
          if (events === undefined) leave?.();
        }
      });
    }
  }
  serve("OPTIONS", "*", async ({ request }) => preflight(request, admission.origins));
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    serve(method, "*", async () => {
      throw routeNotFound();
    });
  }
  return app;
}

/** Whether a request to `/mcp` asks for a stream that lasts. */
function isListening(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.some(
    (message) => isPlainObject(message) && message["method"] === "subscriptions/listen",
  );
}

/** The caller's tenant; administrative changes name its token. */
function tenantOf(engine: Engine, { tenant, tokenId, actor }: Access): TenantEngine {
  return engine.forTenant(tenant, { token: tokenId, actor });
}

const JSON_TYPE = { "content-type": "application/json" } as const;

async function answerRoute(route: Route, caller: Caller): Promise<Response> {
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

/** The caller's id, if it is a plain one; else a new id. */
function requestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID();
}
