/** A review of sessions: failed calls, retries, unfinished requests, tools and files. */

import type { Session } from "./session.ts";

export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
}

export interface FileUse {
  readonly path: string;
  /** How often it was changed. */
  readonly times: number;
}

export interface SessionReview {
  readonly session: Session;
  readonly messages: number;
  /** Older messages that were not read. */
  readonly unread: number;
  readonly calls: number;
  readonly failed: number;
  /** Calls with the tool and the input of one that had failed before. */
  readonly retries: number;
  /** The unfinished end of the session; null if an answer is last. */
  readonly unfinished: "request" | "call" | null;
  /** The message of the first call that failed, by which it can be read. */
  readonly firstFailure: number | null;
}

export interface Review {
  readonly sessions: readonly SessionReview[];
  /** Tools of all these sessions: at most 50, the most used first. */
  readonly tools: readonly ToolUse[];
  readonly files: readonly FileUse[];
  /** The next sessions; absent after the last. */
  readonly nextCursor?: string;
}
