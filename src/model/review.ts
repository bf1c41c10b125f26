/** A review of sessions: failed calls, retries, unfinished requests, tools and files. */

import type { Session } from "./session.ts";

export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
}

export interface FileUse {
  readonly path: string;
  /** The number of changes. */
  readonly times: number;
}

export interface SessionReview {
  readonly session: Session;
  readonly messages: number;
  /** Older messages that were not read. */
  readonly unread: number;
  readonly calls: number;
  readonly failed: number;
  /** Calls that repeat a failed one: the same tool and input. */
  readonly retries: number;
  /** The unfinished end of the session; null if an answer is last. */
  readonly unfinished: "request" | "call" | null;
  /** The message of the first failed call. */
  readonly firstFailure: number | null;
}

export interface Review {
  readonly sessions: readonly SessionReview[];
  /** Tools of all these sessions: the 50 most used. */
  readonly tools: readonly ToolUse[];
  readonly files: readonly FileUse[];
  /** The cursor of the next sessions; absent after the last. */
  readonly nextCursor?: string;
}
