/**
 * The keys of the records of a namespace. A message's key names its thread, its time and its resource, so
 * that messages are filtered, counted and ordered without being read; the newest of a thread come first.
 */

import { escaped, plain } from "../common/key-parts.ts";

/** The fields that a message's key encodes. */
export interface MessagePlace {
  readonly key: string;
  readonly threadId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** When it was stored: orders messages of the same time. */
  readonly stamp: number;
  /** Empty if it has none. */
  readonly resourceId: string;
  readonly id: string;
}

/** Times and stamps are counted down from here. */
const LAST = 9_000_000_000_000_000;

export function messagePlace(place: Omit<MessagePlace, "key">): MessagePlace {
  const { threadId, time, stamp, resourceId, id } = place;
  const parts = [countdown(time), countdown(stamp), escaped(resourceId), escaped(id)];
  return { ...place, key: `${messagesOf(threadId)}${parts.join("/")}` };
}

export function readMessagePlace(key: string): MessagePlace {
  const [, thread = "", time, stamp, resource = "", id = ""] = key.split("/");
  return {
    key,
    threadId: plain(thread),
    time: LAST - Number(time),
    stamp: LAST - Number(stamp),
    resourceId: plain(resource),
    id: plain(id),
  };
}

/** The prefix of a thread's messages. */
export function messagesOf(threadId: string): string {
  return `message/${escaped(threadId)}/`;
}

/** The record under this key has the message's key. */
export function idKey(messageId: string): string {
  return `id/${escaped(messageId)}`;
}

export const THREADS = "thread/";

export function threadKey(threadId: string): string {
  return `${THREADS}${escaped(threadId)}`;
}

/** Marks a thread that belongs or belonged to the resource, or has a message of it. */
export function ownerKey(resourceId: string, threadId: string): string {
  return `${threadsOf(resourceId)}${escaped(threadId)}`;
}

export function threadsOf(resourceId: string): string {
  return `owner/${escaped(resourceId)}/`;
}

export function threadOfOwner(key: string): string {
  return plain(key.slice(key.lastIndexOf("/") + 1));
}

export function resourceKey(resourceId: string): string {
  return `resource/${escaped(resourceId)}`;
}

/** The prefix of the observations of a thread or, without one, of a resource. */
export function observationsOf(threadId: string | null, resourceId: string): string {
  const isThreads = threadId !== null && threadId !== "";
  const owner = isThreads ? `thread/${escaped(threadId)}` : `resource/${escaped(resourceId)}`;
  return `observation/${owner}/`;
}

/** Newer generations come first, and of one generation the newest record. */
export function observationKey(
  prefix: string,
  place: { readonly generation: number; readonly stamp: number; readonly id: string },
): string {
  const { generation, stamp, id } = place;
  return `${prefix}${countdown(generation)}/${countdown(stamp)}/${escaped(id)}`;
}

/** The record under this key has the key of the observations. */
export function observationIdKey(id: string): string {
  return `observation-id/${escaped(id)}`;
}

function countdown(value: number): string {
  return String(LAST - value).padStart(16, "0");
}
