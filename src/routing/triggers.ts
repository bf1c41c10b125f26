/** Words at the beginning of a message that are meant for the gateway, and what follows them. */

export const DEFAULT_RESET_TRIGGERS: readonly string[] = ["/new", "/reset"];

export interface Triggered {
  readonly trigger: string;
  /** What follows, as it was written. */
  readonly rest: string;
}

/**
 * The trigger that a message consists of or begins with, whatever its case. White space must follow:
 * `/newer` is no `/new`. Of two that fit the longer one counts.
 */
export function matchTrigger(text: string, triggers: readonly string[]): Triggered | undefined {
  const trimmed = text.trim();
  const folded = trimmed.toLowerCase();
  const matches = triggers
    .map((trigger) => trigger.trim())
    .filter((trigger) => trigger !== "" && folded.startsWith(trigger.toLowerCase()))
    .filter((trigger) => /^(\s|$)/.test(trimmed.slice(trigger.length)))
    .sort((a, b) => b.length - a.length);
  const [trigger] = matches;
  return trigger === undefined
    ? undefined
    : { trigger, rest: trimmed.slice(trigger.length).trim() };
}
