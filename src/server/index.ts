/** The public names of `backscroll/server`. Other names may change without notice. */

export { type LogRequest, type RequestEvent, toLogLine } from "./log.ts";
export { keepUp, type MaintenanceOptions } from "./maintenance.ts";
export type { RateLimit } from "./rate-limit.ts";
export { openServer, type RunningServer, type ServerOptions } from "./serve.ts";
