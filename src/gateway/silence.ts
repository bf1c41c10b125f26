/**
 * Silent answers: a streaming match of a token.
 *
 * An agent with nothing to say answers `NO_REPLY`. The filter never delivers any part of that
 * token, and delivers answers that only mention it: it holds text back only while the text can
 * still become the token.
 */

import { BackscrollError } from "../model/errors.ts";

export const SILENT_TOKEN = "NO_REPLY";

/**
 * `whole`: the text is the token alone, in any case, possibly repeated, with white space around it.
 * `leading`: the text begins with the token.
 */
export const SILENCE_MODES = ["whole", "leading"] as const;
export type SilenceMode = (typeof SILENCE_MODES)[number];

const WHOLE = /^\s*NO_REPLY(?:\s*NO_REPLY)*\s*$/i;
/** The token, and not the beginning of a longer word. */
const LEADING = /^\s*NO_REPLY(?![\p{L}\p{N}_])/iu;

/** Whether a complete text is not to be delivered. */
export function isSilent(text: string, mode: SilenceMode = "whole"): boolean {
  return (checkMode(mode) === "whole" ? WHOLE : LEADING).test(text);
}

function checkMode(mode: SilenceMode): SilenceMode {
  if (SILENCE_MODES.includes(mode)) return mode;
  const message = `mode must be one of ${SILENCE_MODES.join(", ")}`;
  throw new BackscrollError("invalid_input", message, { details: { field: "mode" } });
}

export interface SilenceFilter {
  /** Takes the next piece of the answer and gives the text to deliver now, which may be empty. */
  push(piece: string): string;
  /** At the end of the answer: the text held back, unless the answer is silent. */
  end(): { readonly silent: boolean; readonly text: string };
  /** True once any text was delivered; the answer is then an ordinary one. */
  readonly isOpen: boolean;
}

/** Filters an answer in pieces, independent of where they are split. */
export function silenceFilter(mode: SilenceMode = "whole"): SilenceFilter {
  checkMode(mode);
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

/** Tokens and white space, ending in a prefix of the token. */
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
