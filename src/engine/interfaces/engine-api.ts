/** The calls of a whole store, local or remote: see `session-api.ts`. */

import type { Engine } from "../engine.ts";
import type { TenantApi } from "./tenant-api.ts";

/** Without `listTenants`: a server shows a caller only its own tenant. */
export interface EngineApi
  extends TenantApi,
    Pick<
      Engine,
      "status" | "verify" | "checkIntegrity" | "sweepAll" | "close" | typeof Symbol.asyncDispose
    > {
  forTenant(name: string): TenantApi;
}
