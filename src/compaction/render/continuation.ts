/**
 * The first message of a compacted conversation, in claw-code's words.
 *
 * claw-code recognises its own summaries by the first sentence, so the wording is part of its
 * format. It is written here and never parsed.
 */

const PREAMBLE =
  "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.";
const TAIL_KEPT = "Recent messages are preserved verbatim.";
const NO_QUESTIONS =
  "Continue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening, and do not preface with continuation text.";

export interface ContinuationOptions {
  /** Verbatim messages follow. */
  readonly tailKept: boolean;
  /** Tells the model to continue without questions. Default true. */
  readonly suppressQuestions?: boolean;
}

export function continuationMessage(summary: string, options: ContinuationOptions): string {
  const { tailKept, suppressQuestions = true } = options;
  return [
    `${PREAMBLE}\n\n${formatSummary(summary)}`,
    tailKept ? `\n\n${TAIL_KEPT}` : "",
    suppressQuestions ? `\n${NO_QUESTIONS}` : "",
  ].join("");
}

/** The readable summary: no analysis, a heading instead of the tags, no gaps. */
function formatSummary(summary: string): string {
  const kept = withoutBlock(summary, "analysis");
  const inner = blockIn(kept, "summary");
  const titled =
    inner === undefined
      ? kept
      : `${kept.slice(0, inner.start)}Summary:\n${inner.text.trim()}${kept.slice(inner.end)}`;
  return titled.replace(/\n[^\S\n]*(?:\n[^\S\n]*)+\n/g, "\n\n").trim();
}

function withoutBlock(text: string, tag: string): string {
  let rest = text;
  for (let block = blockIn(rest, tag); block !== undefined; block = blockIn(rest, tag)) {
    rest = rest.slice(0, block.start) + rest.slice(block.end);
  }
  return rest;
}

function blockIn(
  text: string,
  tag: string,
): { start: number; end: number; text: string } | undefined {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  const start = text.indexOf(open);
  const from = start + open.length;
  const to = start < 0 ? -1 : text.indexOf(close, from);
  if (to < 0) return undefined;
  return { start, end: to + close.length, text: text.slice(from, to) };
}
