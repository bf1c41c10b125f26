/** Page cursors: opaque to callers, and checked when they come back. */

import { BackscrollError } from "../model/errors.ts";
import type { SessionPosition } from "../store/records.ts";

export function formatPageCursor(position: SessionPosition): string {
  return Buffer.from(`s1:${position.lastInteractionAt}:${position.number}`).toString("base64url");
}

export function parsePageCursor(cursor: string): SessionPosition {
  const match = /^s1:(\d{1,15}):(\d{1,15})$/.exec(
    Buffer.from(String(cursor), "base64url").toString(),
  );
  if (match !== null) return { lastInteractionAt: Number(match[1]), number: Number(match[2]) };
  throw new BackscrollError(
    "invalid_cursor",
    "cursor is none that a list has given; start without one",
    { details: { field: "cursor" } },
  );
}
