import type { AppendPlan } from "./plan-append.ts";

/** What a write changes in the tenant's counters. */
export interface TenantDelta {
  readonly sessions?: number;
  readonly entries?: number;
  readonly messages?: number;
  readonly contentBytes?: number;
}

/** What an append adds. */
export function planDelta(plan: AppendPlan): TenantDelta {
  return {
    entries: plan.rows.length,
    messages: plan.messages,
    contentBytes: plan.contentBytes,
  };
}
