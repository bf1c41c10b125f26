/** Text of agents and tools for people. */

/** Control characters, line separators and bidirectional controls. */
const HARMFUL = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Makes control characters visible. Text of agents and tools may hold escape sequences that would
 * recolour, overwrite or retitle a reader's terminal, or show it in another order than it is run.
 */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HARMFUL, (character) => {
    const code = character.charCodeAt(0);
    if (character === "\n" || character === "\t") return character;
    // Unicode has pictures of the C0 control characters; others are shown by number.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
