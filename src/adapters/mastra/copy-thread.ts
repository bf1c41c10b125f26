/** Copies a thread: selects the messages, and describes the new thread. */

import { isWithin } from "./paging.ts";
import type { MessagePlace } from "./record-keys.ts";
import type { DateRange, MastraMessage, MastraThread, ThreadCopy } from "./sdk-types.ts";

export interface CopyPlan {
  readonly thread: MastraThread;
  /** The messages to copy, the oldest first. */
  readonly places: readonly MessagePlace[];
}

/** `places` are the source's, the newest first. */
export function planCopy(
  input: ThreadCopy,
  source: MastraThread,
  places: readonly MessagePlace[],
): CopyPlan {
  const { sourceThreadId, newThreadId = crypto.randomUUID(), options = {} } = input;
  const { messageLimit = 0, messageFilter = {} } = options;
  const { startDate, endDate, messageIds = [] } = messageFilter;
  const range = { start: startDate, end: endDate } as DateRange;
  const ids = new Set(messageIds);
  const matches = places.filter(
    ({ id, time }) => isWithin(time, range) && (ids.size === 0 || ids.has(id)),
  );
  const copied = (messageLimit > 0 ? matches.slice(0, messageLimit) : matches).toReversed();
  const now = new Date();
  const title = input.title || (source.title ? `Clone of ${source.title}` : undefined);
  const thread: MastraThread = {
    id: newThreadId,
    resourceId: input.resourceId || source.resourceId,
    metadata: { ...input.metadata, clone: cloneOf(sourceThreadId, now, copied.at(-1)) },
    createdAt: now,
    updatedAt: now,
  };
  if (title !== undefined) thread.title = title;
  return { thread, places: copied };
}

/** A copy of a message under a new id. */
export function copyOf(
  message: MastraMessage,
  thread: MastraThread,
  resourceId: string | undefined,
): MastraMessage {
  const copy = { ...message, id: crypto.randomUUID(), threadId: thread.id };
  return resourceId ? { ...copy, resourceId } : copy;
}

function cloneOf(
  sourceThreadId: string,
  clonedAt: Date,
  last: MessagePlace | undefined,
): Record<string, unknown> {
  const clone = { sourceThreadId, clonedAt };
  return last === undefined ? clone : { ...clone, lastMessageId: last.id };
}
