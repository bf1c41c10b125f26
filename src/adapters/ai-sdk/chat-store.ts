/**
 * Chats of the AI SDK as sessions: `load` before a turn, `save` at its end.
 *
 * A message that is saved again under its id with other parts, as after a tool was approved,
 * supersedes the stored one, which stays in the session's tree.
 */

import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { describe } from "../../model/json.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import {
  checkTenant,
  KnownSessions,
  readAhead,
  treePages,
  untilSettled,
} from "../common/sessions.ts";
import {
  type AnyUIMessage,
  type Authors,
  answerOf,
  checkMessages,
  invalid,
  isSame,
  type SaveOptions,
  toEntryInput,
  toUIMessage,
  type UIMessageLike,
} from "./chat-message.ts";
import { type ChatRequest, checkRequest, wanted } from "./chat-request.ts";

export interface ChatStoreOptions {
  /** The sessions' agent. Default: `assistant`. */
  readonly agent?: string;
  /** The creator of the sessions. Default: `user`. */
  readonly createdBy?: string;
  /** The prefix of a chat's id in its session's key. Default: `ai-sdk/`. */
  readonly keyPrefix?: string;
}

export interface ChatStore<Message extends UIMessageLike> {
  /** The messages of a chat, oldest first; empty for an unknown chat. */
  load(chatId: string): Promise<Message[]>;
  /**
   * Stores what a request of `useChat` asks for, and gives the messages for the model: a new or edited
   * message is stored, and an answer that is to be made again leaves the active path.
   */
  receive(
    chatId: string,
    request: ChatRequest<Message>,
    options?: Pick<SaveOptions, "author">,
  ): Promise<Message[]>;
  /** Replaces the messages of a chat by these, as `onEnd` and a request of `useChat` give them. */
  save(chatId: string, messages: readonly Message[], options?: SaveOptions): Promise<void>;
  /**
   * Adds messages to a chat; one with the id of a message among the last 50 replaces it. The cost
   * does not depend on the chat's length.
   */
  upsert(chatId: string, ...messages: readonly Message[]): Promise<void>;
  /**
   * What was written in the place of an active message, oldest first: the message itself, its edits,
   * and the other answers to the same message. Empty for an unknown message.
   */
  versions(chatId: string, messageId: string): Promise<MessageVersion<Message>[]>;
  /**
   * Makes a version the active one, with the newest messages that follow it. Gives the messages of the
   * chat.
   */
  choose(chatId: string, entryId: string): Promise<Message[]>;
  /** The chats, the last used first. */
  list(input?: ChatListInput): Promise<ChatList>;
  rename(chatId: string, title: string): Promise<void>;
  /** The session of a chat, created if missing: for searches and contexts. */
  session(chatId: string): Promise<SessionApi>;
  /** Deletes a chat with every version of its messages. A no-op for an unknown chat. */
  delete(chatId: string): Promise<void>;
}

export interface MessageVersion<Message extends UIMessageLike> {
  readonly message: Message;
  /** For `choose`, and for the session's own calls. */
  readonly entryId: string;
  readonly active: boolean;
}

export interface ChatListInput {
  /** At most 500. Default: 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ListedChat {
  readonly id: string;
  /** Its title, else the beginning of its first message. */
  readonly title: string;
  readonly updatedAt: Date;
  readonly messageCount: number;
}

export interface ChatList {
  readonly chats: readonly ListedChat[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** The newest messages that `upsert` compares. */
const TAIL = 50;
/** Chats whose ends this process caches. */
const KNOWN_TAILS = 1_000;

/** The end of a chat as this process has last written it. */
interface Tail {
  readonly leaf: string | null;
  /** The ids of the last messages. */
  readonly ids: readonly string[];
}

export function chatStore<Message extends UIMessageLike = AnyUIMessage>(
  tenant: TenantApi,
  options: ChatStoreOptions = {},
): ChatStore<Message> {
  const {
    agent = "assistant",
    createdBy = "user",
    keyPrefix = "ai-sdk/",
  } = checkFields(options, "options", INPUTS.chatStore);
  checkTenant(tenant);
  const keyOf = (chatId: string) => `${keyPrefix}${checkChatId(chatId)}`;
  const sessions = new KnownSessions(tenant, { agent, createdBy });
  const tails = new RecentMap<string, Tail>(KNOWN_TAILS);
  /** Who wrote a message, by its role. */
  const authors = (author = createdBy): Authors => ({ user: author, assistant: agent, answer: {} });
  const write = (chatId: string, change: (chat: SessionApi) => Promise<Tail>) =>
    sessions.run(keyOf(chatId), (chat) =>
      untilSettled(async () => {
        tails.set(chat.id, await change(chat));
      }),
    );
  /** A mistyped id makes no chat. */
  const checkKnown = async (chatId: string) => {
    if ((await sessions.find(keyOf(chatId))) !== undefined) return;
    throw invalid("chatId", `there is no chat ${chatId}; list() names the chats`);
  };
  return {
    session: (chatId) => tenant.ensureSession({ key: keyOf(chatId), agent, createdBy }),
    async load(chatId) {
      const found = await tenant.findSessionByOrigin(keyOf(chatId));
      if (found === undefined) return [];
      const { entries } = await readPath(tenant.session(found.id), found);
      return entries.map(toUIMessage<Message>);
    },
    async receive(chatId, request, own = {}) {
      const { author } = checkFields(own, "options", INPUTS["chatStore.receive"]);
      const asked = checkRequest(request);
      let left: Message[] = [];
      await write(chatId, async (chat) => {
        const path = await readPath(chat, await chat.meta());
        left = wanted(path.entries.map(toUIMessage<Message>), asked);
        return replaceFrom(chat, path, countSame(path.entries, left), left, authors(author));
      });
      return left;
    },
    async save(chatId, messages, own = {}) {
      const { author, result } = checkFields(own, "options", INPUTS["chatStore.save"]);
      checkMessages(messages);
      const by = { ...authors(author), answer: await answerOf(result) };
      await write(chatId, async (chat) => {
        const path = await readPath(chat, await chat.meta());
        return replaceFrom(chat, path, countSame(path.entries, messages), messages, by);
      });
    },
    upsert: async (chatId, ...messages) =>
      write(chatId, (chat) => {
        checkMessages(messages);
        const tail = tails.get(chat.id);
        // A compare-and-swap that loses to another process reads the end of the chat.
        tails.delete(chat.id);
        return tail !== undefined && areNew(tail, messages)
          ? append(chat, tail, tail.leaf, messages, authors())
          : upsertInTail(chat, messages, authors());
      }),
    async versions(chatId, messageId) {
      const chat = await sessions.find(keyOf(chatId));
      if (chat === undefined) return [];
      const { entryCount, ...meta } = await chat.meta();
      const { entries } = await readPath(chat, meta);
      const at = entries.find((entry) => toUIMessage(entry).id === messageId);
      if (at === undefined) return [];
      const all: MessageVersion<Message>[] = [];
      for await (const page of treePages(chat, entryCount)) {
        for (const entry of page) {
          if (entry.kind !== "message" || entry.parentId !== at.parentId) continue;
          const message = toUIMessage<Message>(entry);
          all.push({ message, entryId: entry.id, active: entry.id === at.id });
        }
      }
      return all;
    },
    async choose(chatId, entryId) {
      let chosen: Message[] = [];
      await checkKnown(chatId);
      await write(chatId, async (chat) => {
        const meta = await chat.meta();
        let path = await readPath(chat, meta);
        if (!path.entries.some(({ id }) => id === entryId)) {
          const tip = await newestBelow(chat, meta.entryCount, entryId);
          await chat.branch(tip, { expectedLeaf: meta.leaf });
          path = await readPath(chat, { ...meta, leaf: tip });
        }
        chosen = path.entries.map(toUIMessage<Message>);
        return { leaf: path.leaf, ids: toIds(chosen) };
      });
      return chosen;
    },
    async list(input = {}) {
      const { limit = 50, cursor } = checkFields(input, "options", INPUTS["chatStore.list"]);
      const given = cursor === undefined ? {} : { cursor };
      const page = await tenant.listSessions({ ...given, keyPrefix, agent, limit });
      const chats = await Promise.all(page.sessions.map((each) => toChat(tenant, each, keyPrefix)));
      return { chats, ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
    },
    async rename(chatId, title) {
      await checkKnown(chatId);
      await sessions.run(keyOf(chatId), async (chat) => {
        await chat.setTitle(title);
      });
    },
    delete: (chatId) => sessions.delete(keyOf(chatId)),
  };
}

/** The newest entry of the branch that continues an entry: the last one written below it. */
async function newestBelow(chat: SessionApi, count: number, entryId: string): Promise<string> {
  const below = new Set<string>();
  let tip: string | undefined;
  for await (const page of treePages(chat, count)) {
    for (const { id, parentId, kind } of page) {
      if (id !== entryId && !below.has(parentId ?? "")) continue;
      if (id === entryId && kind !== "message") break;
      below.add(id);
      if (kind === "message") tip = id;
    }
  }
  if (tip !== undefined) return tip;
  throw invalid("entryId", `entryId ${entryId} is no message of the chat; versions() lists them`);
}

/** Characters of a first message that stand for a title. */
const TITLE_LENGTH = 80;

async function toChat(tenant: TenantApi, session: Session, keyPrefix: string): Promise<ListedChat> {
  const { title, messageCount, lastWriteAt, origin } = session;
  return {
    id: (origin.key ?? "").slice(keyPrefix.length),
    title: title === "" && messageCount > 0 ? await firstWords(tenant.session(session.id)) : title,
    updatedAt: new Date(lastWriteAt),
    messageCount,
  };
}

async function firstWords(chat: SessionApi): Promise<string> {
  const { messages } = await chat.listMessages({ offset: 0, limit: 1, preview: true });
  const text = textOf(messages[0]?.blocks ?? []).replace(/\s+/g, " ");
  return text.length > TITLE_LENGTH ? `${text.slice(0, TITLE_LENGTH).trimEnd()}…` : text;
}

function checkChatId(chatId: string): string {
  if (typeof chatId === "string" && chatId !== "") return chatId;
  throw invalid("chatId", `chatId must be a non-empty string, not ${describe(chatId)}`);
}

interface Path {
  readonly leaf: string | null;
  /** The messages, or the last of them. */
  readonly entries: readonly Entry[];
  /** The message before them; null at the start. */
  readonly parent: string | null;
}

/** The messages of the active path. */
async function readPath(
  chat: SessionApi,
  { leaf, messageCount }: Pick<Session, "leaf" | "messageCount">,
): Promise<Path> {
  if (leaf === null) return { leaf, entries: [], parent: null };
  const offsets: number[] = [];
  for (let offset = 0; offset < messageCount; offset += MAX_PAGE) offsets.push(offset);
  const read = (offset: number) => chat.listMessages({ leaf, offset, limit: MAX_PAGE });
  const entries: Entry[] = [];
  for await (const { messages, total } of readAhead(offsets, read)) {
    entries.push(...messages);
    // The session counts the messages of all branches; the path may be shorter.
    if (entries.length === total) break;
  }
  return { leaf, entries, parent: entries[0]?.parentId ?? null };
}

/** The last messages of the active path. */
async function readTail(chat: SessionApi): Promise<Path> {
  const { leaf, messageCount } = await chat.meta();
  if (leaf === null) return { leaf, entries: [], parent: null };
  const read = (offset: number) => chat.listMessages({ leaf, offset, limit: TAIL });
  const page = await read(Math.max(0, messageCount - TAIL));
  // The session counts the messages of all branches; the path may be shorter.
  const first = Math.max(0, page.total - TAIL);
  const { messages: entries } = page.offset === first ? page : await read(first);
  return { leaf, entries, parent: entries[0]?.parentId ?? null };
}

/** The number of leading messages that are stored unchanged. */
function countSame(entries: readonly Entry[], messages: readonly UIMessageLike[]): number {
  const changed = messages.findIndex((message, i) => {
    const entry = entries[i];
    return entry === undefined || !isSame(entry, message);
  });
  return changed < 0 ? messages.length : changed;
}

function areNew({ ids }: Tail, messages: readonly UIMessageLike[]): boolean {
  const known = new Set(ids);
  for (const { id } of messages) known.add(id);
  return known.size === ids.length + messages.length;
}

async function upsertInTail(
  chat: SessionApi,
  messages: readonly UIMessageLike[],
  by: Authors,
): Promise<Tail> {
  // Several appends: a retry finds the messages of those that succeeded.
  const isLong = messages.length > MAX_BATCH_ENTRIES;
  const path = isLong ? await readPath(chat, await chat.meta()) : await readTail(chat);
  const kept = path.entries.map(toUIMessage<UIMessageLike>);
  let same = kept.length;
  for (const message of messages) {
    const at = kept.findIndex(({ id }) => id === message.id);
    if (at < 0) {
      kept.push(message);
      continue;
    }
    kept[at] = message;
    const entry = path.entries[at];
    if (entry !== undefined && !isSame(entry, message)) same = Math.min(same, at);
  }
  return replaceFrom(chat, path, same, kept, by);
}

/** Keeps the first `same` entries of a path. `stale_leaf` if a concurrent writer moved the leaf. */
async function replaceFrom(
  chat: SessionApi,
  { leaf, entries, parent }: Path,
  same: number,
  messages: readonly UIMessageLike[],
  by: Authors,
): Promise<Tail> {
  const tail = { leaf, ids: toIds(messages.slice(0, same)) };
  // Appends below the leaf, so that entries of other writers after the last message stay on the
  // path.
  if (same === entries.length) return append(chat, tail, leaf, messages.slice(same), by);
  const from = entries[same - 1]?.id ?? parent;
  if (same < messages.length) return append(chat, tail, from, messages.slice(same), by);
  await chat.branch(from, { expectedLeaf: leaf });
  return { ...tail, leaf: from };
}

/** Appends messages below `parent`, and gives the new end. `stale_leaf` if the leaf is another one. */
async function append(
  chat: SessionApi,
  { leaf, ids }: Tail,
  parent: string | null,
  messages: readonly UIMessageLike[],
  by: Authors,
): Promise<Tail> {
  const answer = messages.findLastIndex(({ role }) => role === "assistant");
  const added = messages.map((message, i) => ({
    ...toEntryInput(message, by),
    ...(i === answer ? by.answer : {}),
  }));
  let expectedLeaf = leaf;
  let from = parent;
  for (let i = 0; i < added.length; i += MAX_BATCH_ENTRIES) {
    const part = added.slice(i, i + MAX_BATCH_ENTRIES);
    const stored = await chat.appendEntries(part, { parent: from, expectedLeaf });
    from = stored.at(-1)?.id ?? from;
    expectedLeaf = from;
  }
  return { leaf: expectedLeaf, ids: [...ids, ...toIds(messages)].slice(-TAIL) };
}

function toIds(messages: readonly UIMessageLike[]): string[] {
  return messages.slice(-TAIL).map(({ id }) => id);
}
