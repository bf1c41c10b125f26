/** What the app is made of. A file of its own: public declarations must not need those of bundled packages. */

import type { JsonBounds } from "../api/read-json.ts";
import type { Engine } from "../engine/engine.ts";
import type { GatewayConfig } from "../gateway/config/gateway-config.ts";
import type { Access } from "../model/access.ts";
import type { AdmissionOptions } from "./admission.ts";
import type { Subscribers } from "./live.ts";
import type { BudgetOptions, RateLimiter } from "./load/budget.ts";
import type { WorkShare } from "./load/work-share.ts";
import type { LogRequest } from "./log.ts";

/** Writes a copy of the store to a new file. */
export type CopyStore = (file: string, signal: AbortSignal) => Promise<{ readonly rows: number }>;

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
