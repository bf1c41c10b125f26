/** What the automatic parts tell of themselves: every decision, with its numbers, and what came of it. */

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
      /** The context's size is our own estimate: no provider has reported one. */
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
  /** It was due and did not happen; the next attempt waits for the cool-down. */
  | (SessionEvent & {
      readonly type: "compaction_skipped";
      readonly reason: "min_gain" | "nothing_to_compact" | "conflict" | "failed";
      /** The code of the failure, where there was one; `unknown` for one that is not ours. */
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
  /** A context was too long; the call is made again with less. */
  | (SessionEvent & {
      readonly type: "overflow_retry";
      readonly attempt: number;
      readonly numbers: Readonly<Record<string, number>>;
    })
  /** A setting of the session, or of its route, was not followed. */
  | (SessionEvent & { readonly type: "setting_ignored"; readonly message: string })
  /** Counters and marks of the route are those of an earlier turn; the next one makes it good. */
  | (SessionEvent & { readonly type: "route_not_updated"; readonly message: string })
  /** That it was tried could not be stored: the next turn may try again sooner than it need. */
  | (SessionEvent & { readonly type: "attempt_not_marked"; readonly message: string });

export type FlushReason =
  /** Before a compaction that is about to happen. */
  | "before_compaction"
  | "over_soft_threshold"
  | "below_soft_threshold"
  /** The policy has no threshold in tokens: a flush comes with the compaction only. */
  | "no_soft_threshold"
  | "already_flushed"
  /** Another process is at it. */
  | "claimed_elsewhere"
  /** The token count is stale: too old, or from before the last compaction. */
  | "stale_count"
  | "heartbeat"
  | "read_only_workspace"
  | "disabled";

export type EventListener = (event: GatewayEvent) => void;
