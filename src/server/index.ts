/** The public names of `backscroll/server`. Other names may change without notice. */

export { type LogRequest, type RequestEvent, toLogLine } from "./log.ts";
export type { RateLimit } from "./rate-limit.ts";
export { openServer, type RunningServer, type ServerOptions } from "./serve.ts";
export { keepUp, type UpkeepOptions } from "./upkeep.ts";
