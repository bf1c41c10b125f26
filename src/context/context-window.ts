/**
 * A model's context window, and the source of that figure.
 *
 * The catalogue is small on purpose: families of models by the beginning of their names. A host can
 * override it; unknown models get `DEFAULT_CONTEXT_TOKENS`.
 */

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
