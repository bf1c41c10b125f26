import { INPUTS } from "../model/inputs/index.ts";
import type { Quota } from "../store/records.ts";
import { checkCount, checkInput } from "./check.ts";

/** Limits of a tenant as a caller names them: one that is left out, or null, is lifted. */
export function checkQuotaInput(quota: Partial<Quota>): Quota {
  checkInput(quota, "quota", INPUTS.setQuota);
  const check = (field: keyof Quota) => {
    const value = quota[field] ?? null;
    return value === null ? null : checkCount(value, field);
  };
  return {
    maxSessions: check("maxSessions"),
    maxEntries: check("maxEntries"),
    maxContentBytes: check("maxContentBytes"),
  };
}
