/**
 * Chats of the AI SDK as sessions: `load` before a turn, `save` at its end. A message that comes again
 * under its id with other parts, as after a tool was approved, takes the place of the one that was
 * there; the replaced version stays in the session's tree.
 */

import type { SessionApi } from "../../engine/interfaces/session-api.ts";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import type { Entry } from "../../model/entry.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE } from "../../model/limits.ts";
import { readAhead } from "../common/read-ahead.ts";
import { untilSettled } from "../common/settle.ts";
import { isSame, toEntryInput, toUIMessage, type UIMessageLike } from "./ui-message.ts";

export interface ChatStoreOptions {
  /** The agent that the sessions are of: `assistant` if left out. */
  readonly agent?: string;
  /** The creator of the sessions. Default: `user`. */
  readonly createdBy?: string;
  /** Stands before a chat's id in the session's key: `ai-sdk/` if left out. */
  readonly keyPrefix?: string;
}

export interface ChatStore<Message extends UIMessageLike> {
  /** The messages of a chat, oldest first; none if there is no such chat. */
  load(chatId: string): Promise<Message[]>;
  /** Makes a chat consist of these messages: what `onEnd` and a request of `useChat` hold. */
  save(chatId: string, messages: readonly Message[]): Promise<void>;
  /**
   * Adds messages to a chat, in place of those of the same ids among the last 50: costs the same however
   * long the chat is.
   */
  upsert(chatId: string, ...messages: readonly Message[]): Promise<void>;
  /** The session of a chat, which is created if there is none: to search it, or to build a context. */
  session(chatId: string): Promise<SessionApi>;
  /** Deletes a chat with all that it was. Nothing happens if there is none. */
  delete(chatId: string): Promise<void>;
}

/** Messages that `upsert` looks at. */
const TAIL = 50;

export function chatStore<Message extends UIMessageLike = UIMessageLike>(
  tenant: TenantApi,
  options: ChatStoreOptions = {},
): ChatStore<Message> {
  const {
    agent = "assistant",
    createdBy = "user",
    keyPrefix = "ai-sdk/",
  } = checkFields(options, "options", INPUTS.chatStore);
  const keyOf = (chatId: string) => `${keyPrefix}${chatId}`;
  const session = (chatId: string) =>
    tenant.ensureSession({ key: keyOf(chatId), agent, createdBy });
  return {
    session,
    async load(chatId) {
      const found = await tenant.findSessionByOrigin(keyOf(chatId));
      if (found === undefined) return [];
      return (await readPath(tenant.session(found.id), 0)).entries.map(toUIMessage<Message>);
    },
    async save(chatId, messages) {
      const chat = await session(chatId);
      await untilSettled(async () => {
        const { leaf, entries } = await readPath(chat, 0);
        await replaceFrom(chat, leaf, entries, messages);
      });
    },
    async upsert(chatId, ...messages) {
      const chat = await session(chatId);
      await untilSettled(async () => {
        const { leaf, entries, parent } = await readPath(chat, TAIL);
        const kept = entries.map(toUIMessage<Message>);
        for (const message of messages) {
          const at = kept.findIndex(({ id }) => id === message.id);
          if (at < 0) kept.push(message);
          else kept[at] = message;
        }
        await replaceFrom(chat, leaf, entries, kept, parent);
      });
    },
    async delete(chatId) {
      const found = await tenant.findSessionByOrigin(keyOf(chatId));
      if (found !== undefined) await tenant.session(found.id).delete();
    },
  };
}

interface Path {
  readonly leaf: string | null;
  /** The messages, or the last of them. */
  readonly entries: readonly Entry[];
  /** The message before them; null at the start. */
  readonly parent: string | null;
}

/** The messages of the active path; with `tail`, the last so many. */
async function readPath(chat: SessionApi, tail: number): Promise<Path> {
  const { leaf, messageCount } = await chat.meta();
  if (leaf === null) return { leaf, entries: [], parent: null };
  const read = (offset: number) => chat.listMessages({ leaf, offset, limit: MAX_PAGE });
  let page = await read(tail === 0 ? 0 : Math.max(0, messageCount - tail));
  // The session counts the messages of all branches; the path may be shorter.
  const first = tail === 0 ? 0 : Math.max(0, page.total - tail);
  if (page.offset !== first) page = await read(first);
  const entries = [...page.messages];
  const offsets: number[] = [];
  for (let at = first + entries.length; at < page.total; at += MAX_PAGE) offsets.push(at);
  for await (const { messages } of readAhead(offsets, read)) entries.push(...messages);
  return { leaf, entries, parent: entries[0]?.parentId ?? null };
}

/** Goes on from the last entry that holds the same as the messages. `stale_leaf` if another was quicker. */
async function replaceFrom(
  chat: SessionApi,
  leaf: string | null,
  entries: readonly Entry[],
  messages: readonly UIMessageLike[],
  before: string | null = null,
): Promise<void> {
  let same = 0;
  while (same < messages.length && same < entries.length) {
    if (!isSame(entries[same] as Entry, messages[same] as UIMessageLike)) break;
    same++;
  }
  if (same === entries.length && same === messages.length) return;
  // An append goes below the leaf, so that entries of other writers behind the last message stay.
  const parent = same === entries.length ? leaf : (entries[same - 1]?.id ?? before);
  const added = messages.slice(same).map(toEntryInput);
  if (added.length === 0) {
    await chat.branch(parent, { expectedLeaf: leaf });
    return;
  }
  let expectedLeaf = leaf;
  let from = parent;
  for (let i = 0; i < added.length; i += MAX_BATCH_ENTRIES) {
    const part = added.slice(i, i + MAX_BATCH_ENTRIES);
    const stored = await chat.appendEntries(part, { parent: from, expectedLeaf });
    from = stored.at(-1)?.id ?? from;
    expectedLeaf = from;
  }
}
