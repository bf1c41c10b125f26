/** Maps a gateway's configuration to the options of compaction, memory flush and silence. */

import type { ChatModel } from "../../context/chat-model.ts";
import { contextWindow } from "../../context/context-window.ts";
import { checkFields, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import type { AutoCompactionOptions } from "../after-turn/auto-compaction.ts";
import {
  type AutoPolicy,
  clawPolicy,
  nonePolicy,
  piPolicy,
  turnsPolicy,
} from "../compaction/auto-policy.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import type { MemoryFlushOptions } from "../flush/flush-options.ts";
import type { SilenceMode } from "../silence/silence.ts";

export interface CompactionSetup {
  /** The model that answers and writes memories; undefined: no memory flush. */
  readonly model?: ChatModel | AiSdkModel;
  /** The model's name where the model itself is absent: for its window. */
  readonly modelName?: string | null;
  /** Flush options without a configuration key, such as the folder of day files. */
  readonly flush?: Partial<Omit<MemoryFlushOptions, "enabled">>;
  readonly compact?: NonNullable<AutoCompactionOptions["compact"]>;
  readonly now?: () => number;
}

export interface ConfiguredCompaction {
  readonly compaction: AutoCompactionOptions & { readonly contextWindow: number };
  readonly silence: SilenceMode;
}

/** For `autoCompaction` and `generate`, which do not know the configuration. */
export function compactionOf(
  config: GatewayConfig,
  setup: CompactionSetup = {},
): ConfiguredCompaction {
  const { now, flush } = checkFields(setup, "setup", INPUTS.compactionOf);
  if (flush !== undefined) checkPart(flush, "flush", INPUTS["openGateway.flush"]);
  const compact = summariesOf(config, setup.compact);
  const model = setup.model === undefined ? undefined : toChatModel(setup.model);
  const name = model?.name ?? setup.modelName ?? null;
  const unknown = model?.maxInputTokens ?? config.agents.defaults.contextTokens ?? undefined;
  return {
    compaction: {
      policy: policyOf(config),
      ...(name === null ? {} : { model: name }),
      contextWindow: contextWindow(name, unknown).tokens,
      flush: flushOf(config, setup),
      compact,
      ...(now === undefined ? {} : { now }),
    },
    silence: config.silence,
  };
}

/** The summarizer and its options: the host's take precedence. */
export function summariesOf(
  { compaction }: GatewayConfig,
  given: CompactionSetup["compact"],
): NonNullable<AutoCompactionOptions["compact"]> {
  if (given !== undefined) return given;
  const { summarizer } = compaction;
  return summarizer === "model" ? { summarizer, fallback: "mechanical" } : {};
}

function policyOf({ compaction, agents }: GatewayConfig): AutoPolicy {
  const { enabled, policy, reserveTokens, keepRecentTokens, inputTokens } = compaction;
  if (!enabled) return nonePolicy();
  switch (policy) {
    case "none":
      return nonePolicy();
    case "turns":
      return turnsPolicy();
    case "claw":
      // The configuration already includes the environment variable.
      return clawPolicy(inputTokens === 0 ? {} : { inputTokens }, {});
    case "pi": {
      const { reserveTokensFloor } = agents.defaults.compaction;
      return piPolicy({ reserveTokens, reserveTokensFloor, keepRecentTokens });
    }
  }
}

function flushOf(config: GatewayConfig, setup: CompactionSetup): MemoryFlushOptions | false {
  const { enabled, softThresholdTokens, prompt, systemPrompt } =
    config.agents.defaults.compaction.memoryFlush;
  const model = setup.flush?.model ?? setup.model;
  if (!enabled || model === undefined) return false;
  return {
    softThresholdTokens,
    timeZone: config.session.timeZone,
    ...(prompt === null ? {} : { prompt }),
    ...(systemPrompt === null ? {} : { systemPrompt }),
    ...setup.flush,
    model,
  };
}
