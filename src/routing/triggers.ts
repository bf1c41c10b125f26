/** Commands at the start of a message for the gateway, and the text after them. */

export const DEFAULT_RESET_TRIGGERS: readonly string[] = ["/new", "/reset"];

export interface Triggered {
  readonly trigger: string;
  /** The rest, unchanged. */
  readonly rest: string;
}

/**
 * The trigger that a message equals or begins with, ignoring case. White space must follow:
 * `/newer` is not `/new`. The longest match counts.
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
