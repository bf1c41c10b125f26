/** Events of the automatic parts: every decision with its numbers, and its outcome. */

import type { AutoPolicy } from "./auto-policy.ts";
import type { DecisionReason } from "./decide.ts";

interface SessionEvent {
  readonly sessionId: string;
}

export type GatewayEvent =
  /** After every turn: whether to compact, and why. */
  | (SessionEvent & {
      readonly type: "compaction_decided";
      readonly compact: boolean;
      readonly reason: DecisionReason | "overflow";
      readonly policy: AutoPolicy["name"];
      readonly numbers: Readonly<Record<string, number>>;
      /** True: the size is an estimate, because no provider reported one. */
      readonly estimated: boolean;
    })
  | (SessionEvent & {
      readonly type: "compacted";
      readonly entryId: string;
      /** How often this session was compacted automatically, this time included. */
      readonly count: number;
      readonly removed: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    })
  /** A due compaction was not done; the next attempt waits for the cool-down. */
  | (SessionEvent & {
      readonly type: "compaction_skipped";
      readonly reason: "min_gain" | "nothing_to_compact" | "conflict" | "failed";
      /** The error code of a failure; `unknown` for foreign errors. */
      readonly code?: string;
      readonly message: string;
      readonly numbers: Readonly<Record<string, number>>;
    })
  | (SessionEvent & {
      readonly type: "flush_decided";
      readonly flush: boolean;
      readonly reason: FlushReason;
      readonly numbers: Readonly<Record<string, number>>;
    })
  | (SessionEvent & {
      readonly type: "flushed";
      /** The names of the memories that were written. */
      readonly memories: readonly string[];
      readonly file?: string;
    })
  /** The cycle stays unmarked, so the next turn tries again. */
  | (SessionEvent & {
      readonly type: "flush_failed";
      readonly code: string;
      readonly message: string;
    })
  /** The context overflowed; the call is repeated with a smaller one. */
  | (SessionEvent & {
      readonly type: "overflow_retry";
      readonly attempt: number;
      readonly numbers: Readonly<Record<string, number>>;
    })
  /** A setting of the session or its route was ignored. */
  | (SessionEvent & { readonly type: "setting_ignored"; readonly message: string })
  /** The route's counters and marks are stale; the next turn repairs them. */
  | (SessionEvent & { readonly type: "route_not_updated"; readonly message: string })
  /** The attempt's mark could not be stored, so the next turn may retry before the cool-down. */
  | (SessionEvent & { readonly type: "attempt_not_marked"; readonly message: string });

export type FlushReason =
  /** Before a compaction that is about to happen. */
  | "before_compaction"
  | "over_soft_threshold"
  | "below_soft_threshold"
  /** The policy has no threshold in tokens, so only a compaction triggers a flush. */
  | "no_soft_threshold"
  | "already_flushed"
  /** Another process holds the lease. */
  | "claimed_elsewhere"
  /** The token count is stale: too old, or from before the last compaction. */
  | "stale_count"
  | "heartbeat"
  | "read_only_workspace"
  | "disabled";

export type EventListener = (event: GatewayEvent) => void;
