/** The message that opens a compacted session in claw-code, word for word: it is known there by them. */

const PREAMBLE =
  "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.";

const TAIL_KEPT = "Recent messages are preserved verbatim.";

const RESUME =
  "Continue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening, and do not preface with continuation text.";

export function renderContinuation(summary: string, tailKept: boolean): string {
  const text = summary
    .replace(/<analysis>.*?<\/analysis>/gs, "")
    .replace(/<summary>(.*?)<\/summary>/s, (_whole, inner: string) => `Summary:\n${inner.trim()}`)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return `${PREAMBLE}\n\n${text}${tailKept ? `\n\n${TAIL_KEPT}` : ""}\n${RESUME}`;
}
