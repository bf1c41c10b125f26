/** Reviews on the wire. */

import type { FileUse, Review, SessionReview, ToolUse } from "../../model/review.ts";
import { fromWireSession, toWireSession, type WireSession } from "../session.ts";

export interface WireReview {
  readonly sessions: readonly WireSessionReview[];
  readonly tools: readonly ToolUse[];
  readonly files: readonly FileUse[];
  readonly next_cursor: string | null;
}

export interface WireSessionReview extends Omit<SessionReview, "session" | "firstFailure"> {
  readonly session: WireSession;
  readonly first_failure: number | null;
}

export function toWireReview({ sessions, tools, files, nextCursor }: Review): WireReview {
  return {
    sessions: sessions.map(({ session, firstFailure, ...same }) => ({
      session: toWireSession(session),
      ...same,
      first_failure: firstFailure,
    })),
    tools,
    files,
    next_cursor: nextCursor ?? null,
  };
}

export function fromWireReview({ next_cursor: nextCursor, ...review }: WireReview): Review {
  return {
    ...review,
    sessions: review.sessions.map(({ session, first_failure: firstFailure, ...same }) => ({
      session: fromWireSession(session),
      ...same,
      firstFailure,
    })),
    ...(nextCursor === null ? {} : { nextCursor }),
  };
}
