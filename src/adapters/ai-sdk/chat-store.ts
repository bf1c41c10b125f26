/**
 * Chats of the AI SDK as sessions: `load` before a turn, `save` at its end.
 *
 * A message that is saved again under its id with other parts, as after a tool was approved,
 * supersedes the stored one, which stays in the session's tree.
 */

import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import {
  describe,
  isPlainObject,
  isSameJson,
  type JsonValue,
  stringifyJson,
} from "../../model/json.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import { checkTenant, KnownSessions, readAhead, untilSettled } from "../common/sessions.ts";
import { toBlocks } from "../common/ui-parts.ts";

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
  /** Replaces the messages of a chat by these, as `onEnd` and a request of `useChat` give them. */
  save(chatId: string, messages: readonly Message[]): Promise<void>;
  /**
   * Adds messages to a chat; one with the id of a message among the last 50 replaces it. The cost
   * does not depend on the chat's length.
   */
  upsert(chatId: string, ...messages: readonly Message[]): Promise<void>;
  /** The session of a chat, created if missing: for searches and contexts. */
  session(chatId: string): Promise<SessionApi>;
  /** Deletes a chat with every version of its messages. A no-op for an unknown chat. */
  delete(chatId: string): Promise<void>;
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

export function chatStore<Message extends UIMessageLike = UIMessageLike>(
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
  const write = (chatId: string, change: (chat: SessionApi) => Promise<Tail>) =>
    sessions.run(keyOf(chatId), (chat) =>
      untilSettled(async () => {
        tails.set(chat.id, await change(chat));
      }),
    );
  return {
    session: (chatId) => tenant.ensureSession({ key: keyOf(chatId), agent, createdBy }),
    async load(chatId) {
      const found = await tenant.findSessionByOrigin(keyOf(chatId));
      if (found === undefined) return [];
      const { entries } = await readPath(tenant.session(found.id), found);
      return entries.map(toUIMessage<Message>);
    },
    save: async (chatId, messages) =>
      write(chatId, async (chat) => {
        checkMessages(messages);
        const path = await readPath(chat, await chat.meta());
        return replaceFrom(chat, path, countSame(path.entries, messages), messages);
      }),
    upsert: async (chatId, ...messages) =>
      write(chatId, (chat) => {
        checkMessages(messages);
        const tail = tails.get(chat.id);
        // A compare-and-swap that loses to another process reads the end of the chat.
        tails.delete(chat.id);
        return tail !== undefined && areNew(tail, messages)
          ? append(chat, tail, tail.leaf, messages)
          : upsertInTail(chat, messages);
      }),
    delete: (chatId) => sessions.delete(keyOf(chatId)),
  };
}

function checkChatId(chatId: string): string {
  if (typeof chatId === "string" && chatId !== "") return chatId;
  throw invalid("chatId", `chatId must be a non-empty string, not ${describe(chatId)}`);
}

/** Messages are the SDK's own: only what is no UIMessage at all is refused. */
function checkMessages(messages: readonly UIMessageLike[]): void {
  if (!Array.isArray(messages)) {
    throw invalid("messages", `messages must be an array, not ${describe(messages)}`);
  }
  for (const [i, message] of (messages as unknown[]).entries()) {
    const { id, parts } = (isPlainObject(message) ? message : {}) as Partial<UIMessageLike>;
    if (typeof id === "string" && Array.isArray(parts)) continue;
    const way = "the messages of a model, such as response.messages, are no UIMessages";
    throw invalid(`messages[${i}]`, `messages[${i}] must be a UIMessage with id and parts; ${way}`);
  }
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
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

async function upsertInTail(chat: SessionApi, messages: readonly UIMessageLike[]): Promise<Tail> {
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
  return replaceFrom(chat, path, same, kept);
}

/** Keeps the first `same` entries of a path. `stale_leaf` if a concurrent writer moved the leaf. */
async function replaceFrom(
  chat: SessionApi,
  { leaf, entries, parent }: Path,
  same: number,
  messages: readonly UIMessageLike[],
): Promise<Tail> {
  const tail = { leaf, ids: toIds(messages.slice(0, same)) };
  // Appends below the leaf, so that entries of other writers after the last message stay on the
  // path.
  if (same === entries.length) return append(chat, tail, leaf, messages.slice(same));
  const from = entries[same - 1]?.id ?? parent;
  if (same < messages.length) return append(chat, tail, from, messages.slice(same));
  await chat.branch(from, { expectedLeaf: leaf });
  return { ...tail, leaf: from };
}

/** Appends messages below `parent`, and gives the new end. `stale_leaf` if the leaf is another one. */
async function append(
  chat: SessionApi,
  { leaf, ids }: Tail,
  parent: string | null,
  messages: readonly UIMessageLike[],
): Promise<Tail> {
  const added = messages.map(toEntryInput);
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

/** The fields of the SDK's `UIMessage` that we read. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly metadata?: unknown;
  readonly parts: readonly object[];
}

function toEntryInput(message: UIMessageLike): MessageEntryInput {
  // As the SDK sends it over the network: fields that are undefined are absent.
  const raw = JSON.parse(stringifyJson(message, "message")) as JsonValue;
  return { role: message.role, content: toBlocks(message.parts), raw };
}

/** A message of another writer, without a stored UIMessage, is shown by its text. */
function toUIMessage<Message extends UIMessageLike>(entry: Entry): Message {
  if (isUIMessage(entry.raw)) return entry.raw as unknown as Message;
  const parts = entry.blocks.flatMap((block) =>
    block.type === "text" ? [{ type: "text", text: block.text }] : [],
  );
  const role = entry.role === "user" || entry.role === "system" ? entry.role : "assistant";
  return { id: entry.id, role, parts } as unknown as Message;
}

/** Whether an entry holds an equal message. */
function isSame(entry: Entry, message: UIMessageLike): boolean {
  return isSameJson(entry.raw, JSON.parse(JSON.stringify(message)) as JsonValue);
}

function isUIMessage(raw: JsonValue): boolean {
  return isPlainObject(raw) && typeof raw["id"] === "string" && Array.isArray(raw["parts"]);
}
