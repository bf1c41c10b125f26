/** The configuration of a gateway. */

import type { SummarizerName } from "../../model/inputs/choices.ts";
import type { ResetConfig } from "../../routing/resets.ts";
import type { DmScope, IdentityLinks } from "../../routing/resolve-key.ts";
import type { AutoPolicyName } from "../compaction/auto-policy.ts";
import type { SilenceMode } from "../silence.ts";

export interface MaintenanceConfig {
  /** `warn` reports deletions, `enforce` carries them out. */
  readonly mode: "off" | "warn" | "enforce";
  /** In milliseconds. */
  readonly pruneAfter: number;
  readonly maxEntries: number;
  /** Bytes of content; null: no budget. */
  readonly maxDiskBytes: number | null;
  /** Deletions over budget stop at this size; null: 80 % of the budget. */
  readonly highWaterBytes: number | null;
  /** Agents whose ingested sessions may be deleted as well. */
  readonly ingested: readonly string[];
}

export interface SessionConfig extends ResetConfig {
  readonly dmScope: DmScope;
  readonly mainKey: string;
  readonly identityLinks: IdentityLinks;
  readonly timeZone: string;
  readonly resetTriggers: readonly string[];
  /**
   * A thread's first session forks its parent conversation if the parent has at most this many
   * tokens.
   */
  readonly parentForkMaxTokens: number;
  readonly maintenance: MaintenanceConfig;
}

export interface CompactionConfig {
  readonly enabled: boolean;
  readonly policy: AutoPolicyName;
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  /** Token threshold of the policy `claw`. */
  readonly inputTokens: number;
  /** `model`: the session's model, else the store's, writes summaries. */
  readonly summarizer: SummarizerName;
}

export interface MemoryFlushConfig {
  readonly enabled: boolean;
  readonly softThresholdTokens: number;
  /** Null: the built-in prompt. */
  readonly prompt: string | null;
  readonly systemPrompt: string | null;
}

/** The embedder of the command line and `backscroll serve`. A host passes one to `open`. */
export interface EmbedderConfig {
  readonly url: string | null;
  /** `local`: runs in this process. */
  readonly model: string | null;
  readonly dimensions: number | null;
}

/** What `backscroll ingest`, and all that follow transcripts, never store. */
export interface IgnoreConfig {
  readonly folders: readonly string[];
  readonly repositories: readonly string[];
  readonly agents: readonly string[];
  readonly patterns: readonly string[];
}

export interface GatewayConfig {
  readonly session: SessionConfig;
  readonly compaction: CompactionConfig;
  readonly agents: {
    readonly defaults: {
      /** The default agent. */
      readonly id: string;
      /** The store's model that answers; null: the host passes a model. */
      readonly model: string | null;
      /** The system prompt. */
      readonly instructions: string | null;
      /** The window of models outside the catalogue; null: `DEFAULT_CONTEXT_TOKENS`. */
      readonly contextTokens: number | null;
      readonly compaction: {
        readonly reserveTokensFloor: number;
        readonly memoryFlush: MemoryFlushConfig;
      };
    };
  };
  readonly embedder: EmbedderConfig;
  readonly ignore: IgnoreConfig;
  /** What secrets of the user's own begin with. */
  readonly secrets: { readonly prefixes: readonly string[] };
  /** How long ingested sessions are kept, in milliseconds; null: for ever. */
  readonly keep: number | null;
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
  /** Such as `30d`, `12h` or `90m`; a number is in milliseconds. */
  readonly pruneAfter?: string | number;
  /** Such as `500mb` or `2gb`; a number is in bytes. */
  readonly maxDiskBytes?: string | number | null;
  readonly highWaterBytes?: string | number | null;
};

/** The configuration as a host or a file gives it; missing fields take their defaults. */
export interface GatewayConfigInput extends Partly<Omit<GatewayConfig, "session" | "keep">> {
  /** Such as `90d`, or `forever`; a number is in milliseconds. */
  readonly keep?: string | number | null;
  readonly session?: Partly<Omit<SessionConfig, "maintenance">> & {
    readonly maintenance?: MaintenanceInput;
  };
}
