/** A review of sessions: failed calls, retries, unfinished requests, tools and files. */

import { SESSION } from "./session.ts";
import type { FieldsOf } from "./shape.ts";

export const TOOL_USE = { tool: "text", calls: "count", failed: "count" } as const;
export interface ToolUse extends FieldsOf<typeof TOOL_USE> {}

const UNFINISHED = ["request", "call"] as const;

export const FILE_USE = {
  path: "text",
  /** The number of changes. */
  times: "count",
} as const;
export interface FileUse extends FieldsOf<typeof FILE_USE> {}

export const SESSION_REVIEW = {
  session: SESSION as typeof SESSION,
  messages: "count",
  unread: { of: "count", about: "Older messages that were not read." },
  calls: "count",
  failed: "count",
  /** Calls that repeat a failed one: the same tool and input. */
  retries: { of: "count", about: "Calls that repeat a failed call." },
  /** The unfinished end of the session; null if an answer is last. */
  unfinished: {
    of: { one: UNFINISHED as typeof UNFINISHED },
    null: true,
    about: "The unfinished end of the session.",
  },
  /** The message of the first failed call. */
  firstFailure: { of: "count|null", about: "The index of its message." },
} as const;
export interface SessionReview extends FieldsOf<typeof SESSION_REVIEW> {}

export const REVIEW = {
  sessions: [SESSION_REVIEW as typeof SESSION_REVIEW],
  /** Tools of all these sessions: the 50 most used. */
  tools: [TOOL_USE as typeof TOOL_USE],
  files: [FILE_USE as typeof FILE_USE],
  /** The cursor of the next sessions; absent after the last. */
  nextCursor: "text?",
} as const;
export interface Review extends FieldsOf<typeof REVIEW> {}
