/**
 * A server over a store: listens, runs maintenance, and stops gracefully.
 *
 * `backscroll serve` and hosts that embed a server call `openServer`.
 */

import type { Engine } from "../engine/engine.ts";
import type { GatewayConfig } from "../gateway/config/gateway-config.ts";
import { readConfig } from "../gateway/config/read-config.ts";
import { storeModel } from "../gateway/turns/choose-model.ts";
import type { Access } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields, checkMethods, checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { hostName } from "./admission.ts";
import { createApp } from "./app.ts";
import type { AppOptions, CopyStore } from "./app-options.ts";
import { listen } from "./listen.ts";
import { type FollowerLimits, Subscribers } from "./live.ts";
import type { BudgetOptions } from "./load/budget.ts";
import { type RateLimit, RateLimiter } from "./load/budget.ts";
import { LOOPBACK_NAMES, LocalAccess, type LocalOptions, tellsUsers } from "./local-access.ts";
import type { LogRequest } from "./log.ts";
import { removeLeftOverCopies } from "./store-copy.ts";

export interface ServerOptions {
  readonly version: string;
  /** Default 127.0.0.1. Any other address needs tokens. */
  readonly host?: string;
  /** Default 7423; 0: any free port. */
  readonly port?: number;
  /** The tenant of local callers without a token. Default `default`. */
  readonly tenant?: string;
  /**
   * Serves only this process's own user on loopback: another one needs a token of the store. `token`
   * proves the user where the system does not tell. Default: every user of the machine is served.
   */
  readonly local?: LocalOptions & {
    /** A Unix socket to listen at too, which only the own user may open. */
    readonly socketPath?: string;
  };
  /** Local callers need a token too. */
  readonly requireToken?: boolean;
  /** Further host names of the server. */
  readonly allowHosts?: readonly string[];
  /** Origins of pages that may call. */
  readonly allowOrigins?: readonly string[];
  /** Default: none on loopback, 200 a second (400 at once) elsewhere. */
  readonly rateLimit?: RateLimit | null;
  /** Routing and resets of conversations. Default: the gateway's defaults. */
  readonly gateway?: GatewayConfig;
  /**
   * Makes a copy of the whole store, for `GET /v1/backup`. Default: in this process, which yields
   * to other requests, but blocks them while the disk does.
   */
  readonly copyStore?: CopyStore;
  readonly heartbeatMs?: number;
  readonly stallMs?: number;
  /** Limits of open event streams. Default: 100 per tenant and 1,000 in all. */
  readonly followers?: FollowerLimits;
  /** Limits of requests in progress, per tenant and in all. Default: `BUDGET`. */
  readonly budget?: BudgetOptions;
  /**
   * How long a body may keep the server waiting, beside a second for each 500 bytes. Default 30 s.
   */
  readonly bodyPatienceMs?: number;
  /** Called for each request; `toLogLine` formats it. Default: none. */
  readonly log?: LogRequest;
  readonly mcp?: AppOptions["mcp"];
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** The Unix socket; undefined: there is none. */
  readonly socketPath: string | undefined;
  /** The number of open event streams. */
  followers(): number;
  /** A code for a link into the page, see `LocalAccess`; undefined: the page needs none. */
  newCode(): string | undefined;
  /** Ends event streams and waits for requests in progress. The engine stays open. */
  stop(patienceMs?: number): Promise<void>;
}

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 7423;

const RATE_LIMIT: RateLimit = { perSecond: 200, burst: 400 };

export async function openServer(engine: Engine, options: ServerOptions): Promise<RunningServer> {
  checkMethods(engine, "engine", ["authenticate", "forTenant"]);
  const {
    host = DEFAULT_HOST,
    port = DEFAULT_PORT,
    allowHosts = [],
    allowOrigins = [],
  } = checkFields(options, "options", INPUTS.openServer);
  checkParts(options);
  const gateway = options.gateway && readConfig(options.gateway).config;
  checkAnswering(engine, gateway);
  const isLoopback = LOOPBACK_NAMES.has(host);
  const local =
    isLoopback && options.local !== undefined ? new LocalAccess(options.local) : undefined;
  const needsToken = !isLoopback || (options.requireToken ?? false);
  const stopping = new AbortController();
  const rateLimit = options.rateLimit ?? (isLoopback ? null : RATE_LIMIT);
  const live = new Subscribers(options);
  const app = createApp({
    engine,
    version: options.version,
    log: options.log ?? (() => undefined),
    stopping: stopping.signal,
    admission: {
      anonymous: needsToken ? undefined : anonymous(options.tenant ?? engine.tenant),
      local,
      hosts: isLoopback || allowHosts.length > 0 ? namesOf(host, allowHosts) : undefined,
      origins: new Set(allowOrigins.map(checkOrigin)),
      authenticate: (token) => engine.authenticate(token),
    },
    live,
    ...(rateLimit === null ? {} : { limiter: new RateLimiter(rateLimit) }),
    ...(options.mcp === undefined ? {} : { mcp: options.mcp }),
    ...(options.budget === undefined ? {} : { budget: options.budget }),
    ...(options.bodyPatienceMs === undefined ? {} : { bodyPatienceMs: options.bodyPatienceMs }),
    ...(gateway === undefined ? {} : { gateway }),
    ...(options.copyStore === undefined ? {} : { copyStore: options.copyStore }),
  });
  const listening = await listen(app, { host, port });
  const { socketPath } = options.local ?? {};
  const socket =
    local === undefined || socketPath === undefined
      ? undefined
      : await listening.alsoAt(socketPath, (connection) => local.trust(connection));
  // In the background: it may be gigabytes.
  void removeLeftOverCopies();
  return {
    url: listening.url,
    port: listening.port,
    socketPath: socket,
    followers: () => live.count,
    newCode: () => (local === undefined || tellsUsers() ? undefined : local.newCode()),
    stop: async (patienceMs) => {
      stopping.abort(new BackscrollError("store_closed", "the server is stopping; ask again"));
      await listening.close(patienceMs);
    },
  };
}

function checkParts({ rateLimit, followers, budget, local }: ServerOptions): void {
  if (local !== undefined) checkPart(local, "local", INPUTS["openServer.local"]);
  if (rateLimit != null) checkPart(rateLimit, "rateLimit", INPUTS["openServer.rateLimit"]);
  if (followers !== undefined) {
    checkPart(followers, "followers", INPUTS["openServer.followers"]);
  }
  if (budget === undefined) return;
  const { perTenant, perProcess } = checkPart(budget, "budget", INPUTS["openServer.budget"]);
  checkPart(perTenant, "budget.perTenant", INPUTS["openServer.budget.allowance"]);
  checkPart(perProcess, "budget.perProcess", INPUTS["openServer.budget.allowance"]);
}

/** Report an unknown model of the configuration now, not with the first message. */
function checkAnswering(engine: Engine, gateway: GatewayConfig | undefined): void {
  const name = gateway?.agents.defaults.model ?? null;
  if (name === null) return;
  try {
    storeModel(engine, name);
  } catch (cause) {
    if (!BackscrollError.is(cause, "model_unavailable")) throw cause;
    const message = `agents.defaults.model is ${name}: ${cause.message}`;
    const details = { ...cause.details, field: "agents.defaults.model" };
    throw new BackscrollError("model_unavailable", message, { details, cause });
  }
}

/** The own user can read the store's file anyway. */
function anonymous(tenant: string): Access {
  return { tenant, scope: "admin", actor: null, actAs: "any", operator: true, tokenId: null };
}

function namesOf(host: string, allowed: readonly string[]): ReadonlySet<string> {
  const own = LOOPBACK_NAMES.has(host) ? [...LOOPBACK_NAMES] : [host];
  return new Set([...own, ...allowed].map(hostName));
}

function checkOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  throw new BackscrollError(
    "invalid_input",
    `"${origin.slice(0, 80)}" is not an origin; write it as in https://app.example`,
    { details: { field: "allow-origin" } },
  );
}
