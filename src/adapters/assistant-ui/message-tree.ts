/**
 * The tree of messages that a session holds.
 *
 * Entries are never overwritten, so a message that was updated has several: the newest one counts, and what
 * follows any of them follows the message. A removed message leaves a tombstone; what follows it then
 * follows the message before it.
 */

import type { SessionApi } from "../../engine/interfaces/session-api.ts";
import type { Entry } from "../../model/entry.ts";
import { treePages } from "../common/tree-pages.ts";
import { messageIdOf } from "./stored-message.ts";

export interface TreeMessage {
  readonly id: string;
  readonly parentId: string | null;
  /** The entries of the message, the newest last. */
  readonly entries: readonly Entry[];
}

export interface MessageTree {
  /** A message comes after its parent. */
  readonly messages: ReadonlyMap<string, TreeMessage>;
  /** The last message of the active path. */
  readonly headId: string | null;
  /** The entries of the active path that move the leaf, the oldest first. */
  readonly path: readonly Entry[];
}

/** Reads the whole session, for a reader of `format`. `leaf`: the active leaf. */
export async function readTree(
  session: SessionApi,
  leaf: string | null,
  format: string,
): Promise<MessageTree> {
  const entries = new Map<string, Entry>();
  for await (const page of treePages(session)) {
    for (const entry of page) entries.set(entry.id, entry);
  }
  return toTree(entries, leaf, format);
}

/** `entries` are in the order of writing. */
function toTree(
  entries: ReadonlyMap<string, Entry>,
  leaf: string | null,
  format: string,
): MessageTree {
  /** The id of the nearest message from an entry upwards, other than `own`. */
  const messageFrom = (from: string | null, own?: string): string | null => {
    for (const entry of pathFrom(entries, from)) {
      const id = messageIdOf(entry, format);
      if (id !== undefined && id !== own) return id;
    }
    return null;
  };
  const messages = new Map<string, TreeMessage & { readonly entries: Entry[] }>();
  for (const entry of entries.values()) {
    const id = messageIdOf(entry, format);
    if (id === undefined) continue;
    const versions = messages.get(id)?.entries ?? [];
    const parentId = messageFrom(entry.parentId, id);
    messages.set(id, { id, parentId, entries: [...versions, entry] });
  }
  return {
    messages,
    headId: lastBelow(messages, messageFrom(leaf)),
    path: [...pathFrom(entries, leaf)].reverse(),
  };
}

/** The newest message of those that follow `from`: the page would drop what follows a head. */
function lastBelow(messages: ReadonlyMap<string, TreeMessage>, from: string | null): string | null {
  const newest = new Map<string | null, string>();
  for (const { id, parentId } of messages.values()) newest.set(parentId, id);
  let head = from;
  for (let next = newest.get(head); next !== undefined; next = newest.get(head)) head = next;
  return head;
}

/** The entry, its parent, and so on up to the root. */
function* pathFrom(
  entries: ReadonlyMap<string, Entry>,
  from: string | null,
): Generator<Entry, void> {
  let entry = from === null ? undefined : entries.get(from);
  while (entry !== undefined) {
    yield entry;
    entry = entry.parentId === null ? undefined : entries.get(entry.parentId);
  }
}
