/** Shapes of a gateway's answers: a session's status, replies, maintenance. */

import { ENTRY } from "../entry.ts";
import { SESSION_ROUTE } from "../route.ts";

const WINDOW_SOURCES = ["catalogue", "config", "default"] as const;
const STALE_REASONS = ["daily", "idle"] as const;
const RESET = { at: "time", reason: { some: STALE_REASONS as typeof STALE_REASONS } } as const;

export const SESSION_STATUS = {
  sessionId: "text",
  /** The key that leads to it, or last did; null: none ever did. */
  key: "text|null",
  /** Whether the key leads to it now. */
  current: "flag",
  agent: "text",
  messageCount: "count",
  startedAt: "time",
  lastInteractionAt: "time",
  /** Tokens of the next turn's context, and whether they are an estimate. */
  contextTokens: "count",
  estimated: "flag",
  model: "text|null",
  /** `window.tokens` and `window.source`. */
  windowTokens: "count",
  windowSource: { some: WINDOW_SOURCES as typeof WINDOW_SOURCES },
  compactionCount: "count",
  /** The time of the last memory flush. */
  memoryFlushAt: "time|null",
  /** The next automatic reset if no message comes; null: none. */
  nextReset: { of: RESET as typeof RESET, null: true },
  /** The rule behind it. */
  resetRule: "text",
} as const;

/** A routed message, and the reply to it. */
export const REPLY = {
  key: "text",
  sessionId: "text|null",
  action: "text",
  reason: "text",
  why: "text",
  previousSessionId: "text|null",
  deliver: "flag",
  text: "text",
  actor: "text",
  entry: { of: ENTRY as typeof ENTRY, null: true },
  answer: "text|null",
  route: { of: SESSION_ROUTE as typeof SESSION_ROUTE, null: true },
  reply: { of: "text|null", about: "The text to send." },
  replyReason: { of: "text", about: "The reason for the reply, or for its absence." },
  replyEntryId: "text|null",
  silent: "flag",
  notices: { of: ["text"], about: "Further messages to send, one by one." },
  thoughts: ["text"],
} as const;

const DELETION_REASONS = ["age", "count", "disk"] as const;
const MAINTENANCE_MODES = ["off", "warn", "enforce"] as const;

export const PLANNED_DELETION = {
  sessionId: "text",
  key: "text|null",
  reason: { some: DELETION_REASONS as typeof DELETION_REASONS },
  lastInteractionAt: "time",
  contentBytes: "count",
} as const;

const SPARED = { running: "count", shared: "count", ingested: "count" } as const;

/** Maintenance of a gateway's sessions. */
export const MAINTENANCE_REPORT = {
  mode: { some: MAINTENANCE_MODES as typeof MAINTENANCE_MODES },
  /** Whether `deletions` were carried out. */
  applied: "flag",
  deletions: [PLANNED_DELETION as typeof PLANNED_DELETION],
  /** Sessions kept because they were written to meanwhile. */
  skipped: { of: ["text"], about: "Sessions that were written to meanwhile." },
  /** Spared sessions, by reason. */
  spared: SPARED as typeof SPARED,
  sessions: "count",
  contentBytes: "count",
  /** Content bytes after the deletions. */
  contentBytesAfter: "count",
  /** The budget is still exceeded, and no other session may be deleted. */
  overBudget: "flag",
} as const;
