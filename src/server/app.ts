/**
 * The server as a function from requests to responses: authentication, routing, errors. It opens no
 * socket.
 */

import { Hono } from "hono";
import { SHARE_PATH } from "../api/part-operations.ts";
import type { JsonBounds } from "../api/read-json.ts";
import type { Engine } from "../engine/engine.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { readConfig } from "../gateway/config/read-config.ts";
import { type Access, requireOperator, requireScope } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import { checkSite, withoutToken } from "./admission.ts";
import { answerRoute, preconditions } from "./answer-route.ts";
import type { AppOptions } from "./app-options.ts";
import { readJson } from "./body.ts";
import { Subscribers, whenEnded } from "./live.ts";
import { Budget } from "./load/budget.ts";
import { WorkShare } from "./load/work-share.ts";
import { Metrics, serverGauges } from "./metrics.ts";
import {
  type App,
  type AppContext,
  addressOf,
  admitted,
  answerError,
  connectionOf,
  counted,
  entered,
  fromHere,
  marked,
  named,
  newestWins,
  packed,
  preflight,
  recorded,
  watched,
} from "./middleware.ts";
import { Page } from "./page.ts";
import { routeNotFound } from "./problem.ts";
import { Reference } from "./reference.ts";
import type { Route } from "./route.ts";
import { copyHere } from "./routes/backup.ts";
import { ROUTES } from "./routes/index.ts";
import { deadSharePage, sharedPage } from "./routes/shares.ts";

type Answer = (c: AppContext) => Response | Promise<Response>;

export function createApp(options: AppOptions): App {
  const { engine, admission, limiter, log, stopping, mcp } = options;
  const live = options.live ?? new Subscribers();
  const metrics = new Metrics();
  const gateway = options.gateway ?? readConfig({}).config;
  const copyStore = options.copyStore ?? copyHere(engine);
  const budget = new Budget(options.budget);
  const share = options.share ?? new WorkShare();
  const enter = admitted({ ...options, budget, share });
  const newest = newestWins();

  const app: App = new Hono();
  app.onError(answerError);
  app.on(
    ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
    "*",
    packed,
    marked(admission),
    recorded(metrics, log),
    counted(share),
    watched(admission, live),
    fromHere(admission),
  );
  const open = (method: string, path: string, answer: Answer) =>
    app.on(method, toPattern(path), named(path), answer);
  const closed = (method: string, path: string, answer: Answer) =>
    app.on(method, toPattern(path), named(path), enter, answer);

  open("GET", "/healthz", () => Response.json({ status: "ok" }));
  let checking: Promise<unknown> | undefined;
  open("GET", "/readyz", async (c) => {
    if (stopping.aborted) throw new BackscrollError("store_closed", "the server is stopping");
    checkSite(c.req.raw.headers);
    // Single flight: concurrent requests share one query of the store.
    checking ??= engine.indexStatus().finally(() => {
      checking = undefined;
    });
    await checking;
    return Response.json({ status: "ready" });
  });
  closed("GET", "/metrics", async (c) => {
    requireOperator(entered(c).access);
    const text = metrics.text(await serverGauges(engine, live, budget, options.version));
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4" } });
  });

  const reference = new Reference(ROUTES, options.version);
  open("GET", "/v1/openapi.json", () => reference.document());
  open("GET", "/docs", () => reference.page());

  const page = new Page();
  open("GET", "/", (c) => {
    const connection = connectionOf(c);
    const access = withoutToken(admission, connection);
    const isForeign = access === undefined && admission.local?.userOf(connection) === "other";
    return page.document(c.req.raw, access, isForeign ? 401 : 200);
  });
  open("GET", "/assets/{name}", (c) => page.asset(c.req.raw));
  const { local } = admission;
  if (local !== undefined) {
    closed("POST", "/local/code", (c) => {
      requireOperator(entered(c).access);
      return local.answerCode();
    });
    open("POST", "/local/token", (c) => {
      checkSite(c.req.raw.headers);
      return local.answerToken(c.req.raw);
    });
  }

  open("GET", `${SHARE_PATH}{token}`, async (c) => {
    limiter?.take(addressOf(c));
    const opened = await engine.openShare(new URL(c.req.url).pathname.slice(SHARE_PATH.length));
    if (opened === undefined) return deadSharePage();
    c.set("ticket", budget.enter(opened.tenant));
    return sharedPage(engine, opened);
  });

  const answer = (route: Route) => (c: AppContext) => {
    const { access, allowance } = entered(c);
    const latest = c.get("latest");
    const request = c.req.raw;
    requireScope(access, route.scope);
    if (route.operator) requireOperator(access);
    return answerRoute(route, {
      engine,
      tenant: tenantOf(engine, access),
      access,
      request,
      allowance,
      live,
      cutOff: () => c.env.outgoing?.destroy(),
      gateway,
      copyStore,
      // Created on demand: most requests end before their caller could leave.
      get signal() {
        const signals = [request.signal, stopping];
        return AbortSignal.any(latest === undefined ? signals : [...signals, latest]);
      },
      ...preconditions(route, request.headers),
    });
  };
  for (const route of ROUTES) {
    const { method, path } = route;
    const first = route.newestWins ? [named(path), newest] : [named(path)];
    app.on(method.toUpperCase(), [toPattern(path)], ...first, enter, answer(route));
  }

  if (mcp !== undefined) {
    for (const method of ["GET", "POST", "DELETE"]) {
      closed(method, "/mcp", (c) => answerMcp(c, mcp, live));
    }
  }

  app.on("OPTIONS", "*", (c) => preflight(c.req.raw, admission));
  app.on(["GET", "POST", "PUT", "PATCH", "DELETE"], "*", () => {
    throw routeNotFound();
  });
  return app;
}

/** `/v1/sessions/{session_id}` as Hono writes it. */
function toPattern(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** A stream that lasts counts as a follower of the feed. */
async function answerMcp(
  c: AppContext,
  mcp: NonNullable<AppOptions["mcp"]>,
  live: Subscribers,
): Promise<Response> {
  const { access, allowance } = entered(c);
  const request = c.req.raw;
  let leave: (() => void) | undefined;
  const readBody = async (bounds: JsonBounds) => {
    const body = await readJson(request, bounds, allowance);
    if (isListening(body)) leave ??= live.enter(access.tenant);
    return body;
  };
  let events: ReadableStream<Uint8Array> | undefined;
  try {
    const response = await mcp(request, access, () => c.env.outgoing?.destroy(), readBody);
    if (leave === undefined || response.body === null) return response;
    events = whenEnded(response.body, leave);
    return new Response(events, response);
  } finally {
    if (events === undefined) leave?.();
  }
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
