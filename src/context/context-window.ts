/**
 * A model's context window, and the source of that figure.
 *
 * The catalogue is small on purpose: families of models by the beginning of their names. A host can
 * override it; unknown models get `DEFAULT_CONTEXT_TOKENS`.
 */

import type { CONTEXT_USAGE } from "../model/answers/context.ts";
import type { Usage } from "../model/entry.ts";
import { totalTokens } from "../model/prices.ts";
import type { FieldsOf } from "../model/shape.ts";

export interface ContextWindow {
  readonly tokens: number;
  /** `catalogue`: known here; `config`: set by the host; `default`: unknown model. */
  readonly source: "catalogue" | "config" | "default";
}

export const DEFAULT_CONTEXT_TOKENS = 200_000;

/** The first match counts, so specific names precede general ones. */
const CATALOGUE: readonly (readonly [RegExp, number])[] = [
  [/^claude-.*(1m|\[1m\])/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o|^gpt-4-turbo|^chatgpt-4o/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4/, 8_192],
  [/^gpt-3\.5/, 16_385],
  [/^o[134](-|$)/, 200_000],
  [/^codex-/, 400_000],
  [/^gemini-1\.5-pro/, 2_097_152],
  [/^gemini-/, 1_048_576],
  [/^gemma-?3/, 128_000],
  [/^(mistral-large|mistral-medium|mistral-small|codestral|devstral|magistral)/, 128_000],
  [/^deepseek-/, 128_000],
  [/^llama-?4/, 1_000_000],
  [/^llama-?3\.[123]/, 128_000],
  [/^qwen-?3-coder/, 262_144],
  [/^qwen/, 131_072],
  [/^grok-4/, 256_000],
  [/^grok/, 131_072],
  [/^kimi-k2/, 262_144],
  [/^glm-4\.[56]/, 131_072],
];

/** `contextTokens` is the host's setting for models outside the catalogue. */
export function contextWindow(model: string | null, contextTokens?: number): ContextWindow {
  const name = (model ?? "").toLowerCase().split("/").at(-1) ?? "";
  const known = CATALOGUE.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return { tokens: known[1], source: "catalogue" };
  if (contextTokens !== undefined) return { tokens: contextTokens, source: "config" };
  return { tokens: DEFAULT_CONTEXT_TOKENS, source: "default" };
}

/**
 * Context pressure: the tokens of a context.
 *
 * The provider's figure for the last call, cache reads and writes included, plus an estimate of
 * later entries. A compaction invalidates earlier figures, so only later calls count. Cumulative
 * counters are for billing and not used here.
 */
export interface Pressure extends Omit<FieldsOf<typeof CONTEXT_USAGE>, "billed" | "compaction"> {}

/** An entry of the context, oldest first, without the compactions. */
interface PressureItem {
  readonly id: string;
  readonly sequence: number;
  readonly usage: Usage | null;
  readonly tokens: number;
}

/**
 * `compactedAt` is the sequence of the newest compaction on the path (0: none); `standing` the
 * tokens of its summary and of pinned entries.
 */
export function contextPressure(
  items: readonly PressureItem[],
  compactedAt: number,
  standing: number,
): Pressure {
  let later = 0;
  for (const item of items.toReversed()) {
    if (item.usage !== null && item.sequence > compactedAt) {
      const contextTokens = totalTokens(item.usage) + later;
      return { contextTokens, estimatedTokens: later, estimated: false, reportedBy: item.id };
    }
    later += item.tokens;
  }
  const contextTokens = standing + later;
  return { contextTokens, estimatedTokens: contextTokens, estimated: true, reportedBy: null };
}
