import type { SWEEP } from "../../model/answers/store.ts";
import type { FieldsOf } from "../../model/shape.ts";

/** The sweep at the store port. */

export interface SweepRequest {
  /** Absent: every tenant. */
  readonly tenant?: string;
  readonly now: number;
  /** The limit of deleted sessions per call. */
  readonly limit: number;
}

export interface SweepResult extends Omit<FieldsOf<typeof SWEEP>, "erasedEntries"> {
  /** Whether the limit left work for another call. */
  readonly more: boolean;
}
