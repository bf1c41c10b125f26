/**
 * Silent answers.
 *
 * An agent with nothing to say answers `NO_REPLY`. The filter never delivers any part of that
 * token, and delivers answers that only mention it: it holds text back only while the text can
 * still become the token.
 */

export const SILENT_TOKEN = "NO_REPLY";

/**
 * `whole`: the text is the token and nothing else, in any case, repeated, with white space round it.
 * `leading`: the text begins with the token, whatever follows.
 */
export const SILENCE_MODES = ["whole", "leading"] as const;
export type SilenceMode = (typeof SILENCE_MODES)[number];

const WHOLE = /^\s*NO_REPLY(?:\s*NO_REPLY)*\s*$/i;
/** The token, and not the beginning of a longer word. */
const LEADING = /^\s*NO_REPLY(?![\p{L}\p{N}_])/iu;

/** Whether a complete text is not to be delivered. */
export function isSilent(text: string, mode: SilenceMode = "whole"): boolean {
  return (mode === "whole" ? WHOLE : LEADING).test(text);
}

export interface SilenceFilter {
  /** Takes the next piece of the answer and gives the text to deliver now, which may be empty. */
  push(piece: string): string;
  /** At the end of the answer: the text held back, unless the answer is silent. */
  end(): { readonly silent: boolean; readonly text: string };
  /** Whether something was let through: from then on the answer is a real one. */
  readonly isOpen: boolean;
}

/** Decides about an answer that comes in pieces, wherever they are split. */
export function silenceFilter(mode: SilenceMode = "whole"): SilenceFilter {
  let held = "";
  let state: "undecided" | "open" | "silent" = "undecided";
  return {
    push(piece) {
      if (state === "open") return piece;
      held += piece;
      if (state === "undecided") state = judge(held, mode);
      return state === "open" ? release() : "";
    },
    end() {
      const silent = state === "silent" || (state === "undecided" && isSilent(held, mode));
      const text = silent ? "" : release();
      state = silent ? "silent" : "open";
      return { silent, text };
    },
    get isOpen() {
      return state === "open";
    },
  };

  function release(): string {
    const text = held;
    held = "";
    return text;
  }
}

function judge(text: string, mode: SilenceMode): "undecided" | "open" | "silent" {
  if (mode === "whole") return couldBecomeWhole(text) ? "undecided" : "open";
  const start = text.trimStart();
  if (start.length <= SILENT_TOKEN.length) return isPrefix(start) ? "undecided" : "open";
  return LEADING.test(text) ? "silent" : "open";
}

/** Tokens and white space, and at the end the beginning of one more token. */
function couldBecomeWhole(text: string): boolean {
  let rest = text.trimStart();
  while (rest.length >= SILENT_TOKEN.length && isPrefix(rest.slice(0, SILENT_TOKEN.length))) {
    rest = rest.slice(SILENT_TOKEN.length).trimStart();
  }
  return isPrefix(rest);
}

function isPrefix(text: string): boolean {
  return SILENT_TOKEN.startsWith(text.toUpperCase()) && text.length <= SILENT_TOKEN.length;
}
