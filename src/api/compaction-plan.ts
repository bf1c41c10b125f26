/** The plan of a compaction on the wire. */

import type { CompactionPlan } from "../compaction/plan.ts";
import { fromWireFields, toWireFields } from "./wire.ts";

export interface WirePlan {
  readonly covered: readonly string[];
  readonly pinned: readonly string[];
  readonly from: string;
  readonly through: string;
  readonly through_sequence: number;
  readonly first_kept_entry_id: string | null;
  readonly split_turn: boolean;
  readonly cuts: readonly WireCut[];
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly gain_tokens: number;
}

/** A tool result to be shown shortened. */
interface WireCut {
  readonly [field: string]: string | number;
}

export function toWirePlan({ cuts, ...plan }: CompactionPlan): WirePlan {
  const wire = toWireFields(plan) as unknown as Omit<WirePlan, "cuts">;
  return { ...wire, cuts: cuts.map((cut) => toWireFields({ ...cut }) as WireCut) };
}

export function fromWirePlan({ cuts, ...plan }: WirePlan): CompactionPlan {
  return {
    ...fromWireFields(plan),
    cuts: cuts.map((cut) => fromWireFields(cut) as unknown as CompactionPlan["cuts"][number]),
  };
}
