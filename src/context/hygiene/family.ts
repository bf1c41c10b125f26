/**
 * The provider family whose model wrote a message.
 *
 * A signature is valid only for the family that made it, and a wrong one makes every later request
 * fail, because the message stays in the history. Messages name their model but not its family, so
 * the family is derived from the name.
 */

export type Family = "anthropic" | "google" | "openai" | "mistral";

/** In this order: "vertex/claude-…" is Anthropic's model on Google's machines. */
const NAMES: readonly (readonly [Family, RegExp])[] = [
  ["anthropic", /claude|anthropic/i],
  ["google", /gemini|gemma|google/i],
  ["mistral", /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral/i],
  ["openai", /gpt|openai|codex|(?:^|[/:.])o\d/i],
];

/** The family of `model`; null if the name does not show it. */
export function familyOf(model: string): Family | null {
  return NAMES.find(([, name]) => name.test(model))?.[0] ?? null;
}
