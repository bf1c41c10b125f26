/**
 * Whose model wrote a message.
 *
 * A signature means something only to the house that made it, and a wrong one is refused for good:
 * the message stays in the history and every later request fails with it. Messages name their model
 * but not its house, so the house is told from the name.
 */

export type Family = "anthropic" | "google" | "openai" | "mistral";

/** In this order: "vertex/claude-…" is Anthropic's model on Google's machines. */
const NAMES: readonly (readonly [Family, RegExp])[] = [
  ["anthropic", /claude|anthropic/i],
  ["google", /gemini|gemma|google/i],
  ["mistral", /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral/i],
  ["openai", /gpt|openai|codex|(?:^|[/:.])o\d/i],
];

/** The house of `model`; null for a name that tells none. */
export function familyOf(model: string): Family | null {
  return NAMES.find(([, name]) => name.test(model))?.[0] ?? null;
}
