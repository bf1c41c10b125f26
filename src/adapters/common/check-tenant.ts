import type { TenantApi } from "../../engine/interfaces.ts";
import { BackscrollError } from "../../model/errors.ts";
import { describe } from "../../model/json.ts";

/** Refuses what is no tenant now, not with the framework's first call. */
export function checkTenant(tenant: Pick<TenantApi, "records">): void {
  if (typeof tenant?.records?.find === "function") return;
  throw new BackscrollError(
    "invalid_input",
    `tenant must be what open, forTenant or connect gives, not ${describe(tenant)}`,
    { details: { field: "tenant" } },
  );
}
