import type { AppendPlan } from "./plan-append.ts";

/** Increments of the tenant's counters. */
export interface TenantDelta {
  readonly sessions?: number;
  readonly entries?: number;
  readonly messages?: number;
  readonly contentBytes?: number;
}

/** The increments of an append. */
export function planDelta(plan: AppendPlan): TenantDelta {
  return {
    entries: plan.rows.length,
    messages: plan.messages,
    contentBytes: plan.contentBytes,
  };
}
