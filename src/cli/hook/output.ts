/** What a hook prints: each agent takes a text for its model in another form. */

export const HOOK_AGENTS = [
  "claude-code",
  "codex",
  "gemini-cli",
  "qwen-code",
  "opencode",
  "copilot-cli",
  "kimi-code",
  "droid",
] as const;
export type HookAgent = (typeof HOOK_AGENTS)[number];

interface Said {
  /** The agent's name of the event. */
  readonly event: string;
  /** For the model. */
  readonly text: string;
  /** For the person: a line. */
  readonly person: string;
}

export function hookOutput(agent: HookAgent, { event, text, person }: Said): string {
  // Kimi shows its model whatever is printed.
  if (agent === "kimi-code") return `${text}\n`;
  if (agent === "opencode") return `${JSON.stringify({ text, person })}\n`;
  if (agent === "copilot-cli") return `${JSON.stringify({ additionalContext: text })}\n`;
  const hookSpecificOutput = { hookEventName: event, additionalContext: text };
  const shown = agent === "codex" || agent === "droid" ? {} : { systemMessage: person };
  return `${JSON.stringify({ hookSpecificOutput, ...shown })}\n`;
}
