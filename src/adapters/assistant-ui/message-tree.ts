/**
 * The tree of messages of a session.
 *
 * Entries are never overwritten, so an updated message has several: the newest one counts, and the
 * children of all of them are the message's children. A removed message leaves a tombstone, whose
 * children become children of the message before it.
 */

import type { SessionApi } from "../../engine/interfaces.ts";
import type { Entry } from "../../model/entry.ts";
import { treePages } from "../common/tree-pages.ts";
import { messageIdOf } from "./stored-message.ts";

export interface TreeMessage<Kept> {
  readonly id: string;
  readonly parentId: string | null;
  /** The kept parts of the message's entries, the newest last. */
  readonly entries: readonly Kept[];
}

export interface MessageTree<Kept> {
  /** A message comes after its parent. */
  readonly messages: ReadonlyMap<string, TreeMessage<Kept>>;
  /** The active leaf. */
  readonly leaf: string | null;
  /** The last message of the active path. */
  readonly headId: string | null;
  /** The entries of the active path that move the leaf, the oldest first. */
  readonly path: readonly Kept[];
}

interface Node<Kept> {
  readonly parentId: string | null;
  /** The message that the entry holds. */
  readonly messageId: string | undefined;
  readonly kept: Kept;
}

/**
 * Reads the whole session, for a reader of `format`. `keep` gives the part of an entry that the caller
 * needs; it runs while the next page is read, and the rest of the page is dropped.
 */
export async function readTree<Kept>(
  session: SessionApi,
  format: string,
  keep: (entry: Entry, messageId: string | undefined) => Kept,
): Promise<MessageTree<Kept>> {
  const nodes = new Map<string, Node<Kept>>();
  const { leaf, entryCount } = await session.meta();
  for await (const page of treePages(session, entryCount)) {
    for (const entry of page) {
      const messageId = messageIdOf(entry, format);
      const { id, parentId } = entry;
      nodes.set(id, { parentId, messageId, kept: keep(entry, messageId) });
    }
  }
  return toTree(nodes, leaf);
}

/** `nodes` are in the order of writing. */
function toTree<Kept>(
  nodes: ReadonlyMap<string, Node<Kept>>,
  leaf: string | null,
): MessageTree<Kept> {
  /** The id of the nearest message from an entry upwards, other than `own`. */
  const messageFrom = (from: string | null, own?: string): string | null => {
    for (const { messageId } of pathFrom(nodes, from)) {
      if (messageId !== undefined && messageId !== own) return messageId;
    }
    return null;
  };
  const messages = new Map<string, TreeMessage<Kept>>();
  for (const { messageId: id, parentId: from, kept } of nodes.values()) {
    if (id === undefined) continue;
    const versions = messages.get(id)?.entries ?? [];
    messages.set(id, { id, parentId: messageFrom(from, id), entries: [...versions, kept] });
  }
  return {
    messages,
    leaf,
    headId: lastBelow(messages, messageFrom(leaf)),
    path: [...pathFrom(nodes, leaf)].map(({ kept }) => kept).reverse(),
  };
}

/** The newest message below `from`: the page drops messages after the head. */
function lastBelow(
  messages: ReadonlyMap<string, TreeMessage<unknown>>,
  from: string | null,
): string | null {
  const newest = new Map<string | null, string>();
  for (const { id, parentId } of messages.values()) newest.set(parentId, id);
  let head = from;
  for (let next = newest.get(head); next !== undefined; next = newest.get(head)) head = next;
  return head;
}

/** The entry, its parent, and so on up to the root. */
function* pathFrom<Kept>(
  nodes: ReadonlyMap<string, Node<Kept>>,
  from: string | null,
): Generator<Node<Kept>, void> {
  let node = from === null ? undefined : nodes.get(from);
  while (node !== undefined) {
    yield node;
    node = node.parentId === null ? undefined : nodes.get(node.parentId);
  }
}
