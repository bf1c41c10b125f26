/** Limits of a tenant. */

import { INPUTS } from "../model/inputs/index.ts";
import type { Quota } from "../store/records.ts";
import { checkCount, checkInput } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";

export async function setQuota(engine: EngineContext, quota: Partial<Quota>): Promise<void> {
  const { store, tenant, by } = engine;
  checkInput(quota, "quota", INPUTS.setQuota);
  const check = (field: keyof Quota) => {
    const value = quota[field] ?? null;
    return value === null ? null : checkCount(value, field);
  };
  const checked = {
    maxSessions: check("maxSessions"),
    maxEntries: check("maxEntries"),
    maxContentBytes: check("maxContentBytes"),
  };
  await store.setQuota(tenant, checked, engine.now(), by);
}
