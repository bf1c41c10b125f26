/** The public names of `backscroll/server`. Other names may change without notice. */

export type { RateLimit } from "./load/budget.ts";
export { type LogRequest, type RequestEvent, toLogLine } from "./log.ts";
export { keepUp, type MaintenanceOptions } from "./maintenance.ts";
export { openServer, type RunningServer, type ServerOptions } from "./serve.ts";
