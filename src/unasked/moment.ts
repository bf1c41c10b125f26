/** A moment of an agent's work, and what memory says in it unasked. */

import type { Session } from "../model/session.ts";

export const MOMENTS = ["prompt", "error", "file", "start"] as const;

interface Place {
  /** The caller's folder. */
  readonly cwd: string;
  readonly branch?: string;
  /** Epoch milliseconds: nothing later is seen. */
  readonly at: number;
  /** The caller's own session, by its id or its agent's: never a hit. */
  readonly session?: string;
  /** The hits that the caller was shown: none is shown twice. */
  readonly said?: readonly Pick<UnaskedHit, "sessionId" | "index">[];
}

export type Moment = Place &
  (
    | { readonly moment: "prompt"; readonly text: string }
    /** A command failed. */
    | { readonly moment: "error"; readonly command: string; readonly error: string }
    /** A file was read. */
    | { readonly moment: "file"; readonly file: string }
    | { readonly moment: "start" }
  );

/** Where to read on. */
export interface UnaskedHit {
  readonly sessionId: string;
  readonly shortId: string;
  /** Of the message. */
  readonly index: number;
}

/** `sure`, or the reason of silence. */
export const REASONS = [
  "sure",
  /** Too few words with a meaning, or so many that it says all itself. */
  "too_short",
  "too_long",
  /** No error of its own: an exit code, a deadline, a failed task, a place in the sources. */
  "generic_error",
  /** A file that every session reads. */
  "generic_file",
  "nothing_found",
  /** The command failed so before, and no changed one worked then. */
  "no_cure",
  "unsure",
  "already_said",
  /** A person's mark says that it does not hold. */
  "marked",
  /** The time ran out, or the index is behind or damaged. */
  "incomplete",
] as const;
export type Reason = (typeof REASONS)[number];

/** What is said, and why. */
export interface Unasked {
  readonly speaks: boolean;
  readonly why: {
    readonly reason: Reason;
    /** The figures of the decision, by name. */
    readonly figures: Readonly<Record<string, number>>;
  };
  /** For the model: framed, masked, quoted; empty if silent. */
  readonly text: string;
  /** For the person: one line; empty if silent. */
  readonly person: string;
  readonly hit: UnaskedHit | null;
  /** What a later call of the agent has if it was used: the command, the session's id. */
  readonly signs: readonly string[];
}

/** What a moment's part finds. */
export interface Verdict {
  readonly reason: Reason;
  readonly figures?: Readonly<Record<string, number>>;
  /** Also where the figures do not suffice: for measurements. */
  readonly found?: Found;
}

export interface Found {
  readonly hit: UnaskedHit;
  readonly lines: readonly string[];
  readonly person: string;
  /** The command that worked. */
  readonly command?: string;
}

export interface UnaskedOptions {
  /** The sessions that may speak. Default: the person's own. */
  readonly mayQuote?: (session: Session) => boolean;
  /** In milliseconds; past it, silence. Default 150. */
  readonly deadlineMs?: number;
}
