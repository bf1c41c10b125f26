/** What a gateway can be told, with every setting in its place. */

import type { SummarizerName } from "../../model/inputs/choices.ts";
import type { ResetConfig } from "../../routing/resets/reset-policy.ts";
import type { DmScope, IdentityLinks } from "../../routing/resolve-key.ts";
import type { AutoPolicyName } from "../compaction/auto-policy.ts";
import type { SilenceMode } from "../silence/silence.ts";

export interface MaintenanceConfig {
  /** `warn` says what would be deleted, `enforce` deletes it. */
  readonly mode: "off" | "warn" | "enforce";
  /** In milliseconds. */
  readonly pruneAfter: number;
  readonly maxEntries: number;
  /** Bytes of content; null: no budget. */
  readonly maxDiskBytes: number | null;
  /** How far to go down once the budget is exceeded; null: to 80 % of it. */
  readonly highWaterBytes: number | null;
  /** Agents whose ingested sessions may be deleted, too. */
  readonly ingested: readonly string[];
}

export interface SessionConfig extends ResetConfig {
  readonly dmScope: DmScope;
  readonly mainKey: string;
  readonly identityLinks: IdentityLinks;
  readonly timeZone: string;
  readonly resetTriggers: readonly string[];
  /**
   * A thread's first session forks its parent conversation if that has at most this many tokens.
   */
  readonly parentForkMaxTokens: number;
  readonly maintenance: MaintenanceConfig;
}

export interface CompactionConfig {
  readonly enabled: boolean;
  readonly policy: AutoPolicyName;
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  /** Where the policy `claw` compacts. */
  readonly inputTokens: number;
  /** `model`: the store's model or the one that a session names writes summaries. */
  readonly summarizer: SummarizerName;
}

export interface MemoryFlushConfig {
  readonly enabled: boolean;
  readonly softThresholdTokens: number;
  /** Null: the words that come with the gateway. */
  readonly prompt: string | null;
  readonly systemPrompt: string | null;
}

/** The embedder of the command line and `backscroll serve`: a host gives `open` one. */
export interface EmbedderConfig {
  readonly url: string | null;
  /** `local`: without a server. */
  readonly model: string | null;
  readonly dimensions: number | null;
}

export interface GatewayConfig {
  readonly session: SessionConfig;
  readonly compaction: CompactionConfig;
  readonly agents: {
    readonly defaults: {
      /** The agent that answers where none is named. */
      readonly id: string;
      /** Which model of the store answers; null: only one that the host hands in. */
      readonly model: string | null;
      /** What the model is told before each conversation. */
      readonly instructions: string | null;
      /** The window of models that are not in the catalogue; null: `DEFAULT_CONTEXT_TOKENS`. */
      readonly contextTokens: number | null;
      readonly compaction: {
        readonly reserveTokensFloor: number;
        readonly memoryFlush: MemoryFlushConfig;
      };
    };
  };
  readonly embedder: EmbedderConfig;
  readonly silence: SilenceMode;
}

type Partly<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]?: Partly<Value[Name]> }
    : Value;

type MaintenanceInput = Omit<
  Partly<MaintenanceConfig>,
  "pruneAfter" | "maxDiskBytes" | "highWaterBytes"
> & {
  /** As in `30d`, `12h` or `90m`; a number is of milliseconds. */
  readonly pruneAfter?: string | number;
  /** As in `500mb` or `2gb`; a number is of bytes. */
  readonly maxDiskBytes?: string | number | null;
  readonly highWaterBytes?: string | number | null;
};

/** The configuration as a host or a file gives it; missing fields take their defaults. */
export interface GatewayConfigInput extends Partly<Omit<GatewayConfig, "session">> {
  readonly session?: Partly<Omit<SessionConfig, "maintenance">> & {
    readonly maintenance?: MaintenanceInput;
  };
}
