/**
 * A history adapter of assistant-ui on Backscroll: a thread is a session, its branches are the
 * session's.
 *
 * A message is an entry below the one that it follows. An update puts a sibling in the entry's
 * place; the entries of the active path that follow it are stored again below the sibling, so that
 * searches and contexts see the path that the page shows.
 */

import { KeyedQueue } from "../../async/keyed-queue.ts";
import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { RecentMap } from "../../model/recent-map.ts";
import {
  canReplace,
  checkTenant,
  KnownSessions,
  replaceInPath,
  storeOrBare,
  untilSettled,
} from "../common/sessions.ts";
import {
  type Authors,
  isSame,
  type MessageTree,
  messageIdOf,
  readTree,
  SOURCE,
  type StoredMessage,
  THREAD_MESSAGE,
  type TreeMessage,
  toEntryInput,
  toJson,
  toPlainContent,
  toPlainMessage,
  toStored,
  toThreadMessage,
} from "./message-tree.ts";

export interface ThreadHistoryOptions {
  /**
   * The caller's id of the thread: any text. A function is called for each operation: for `load` it
   * may give undefined, which means an empty history; for `write` it must give an id.
   */
  readonly threadId:
    | string
    | ((purpose: "load" | "write") => string | undefined | Promise<string | undefined>);
  /** The agent of the session, and the author of its answers. Default: `assistant-ui`. */
  readonly agent?: string;
  /** The author of requests. Default: `user`. */
  readonly user?: string;
}

/** `useLocalRuntime(model, { adapters: { history: threadHistory(memory, { threadId }) } })`. */
export function threadHistory(tenant: TenantApi, options: ThreadHistoryOptions): ThreadHistory {
  checkTenant(tenant);
  return new StoredHistory(tenant, checkFields(options, "options", INPUTS.threadHistory));
}

/** Threads whose ends this process caches. */
const KNOWN_ENDS = 1_000;

/** The end of a thread as this process last wrote it. */
interface End {
  readonly leaf: string;
  readonly id: string;
  readonly format: string;
}

class StoredHistory implements ThreadHistory {
  readonly #threadId: ThreadHistoryOptions["threadId"];
  readonly #authors: Authors;
  readonly #sessions: KnownSessions;
  /** By the ids of their sessions. */
  readonly #ends = new RecentMap<string, End>(KNOWN_ENDS);
  /** Writes keep the order of their calls. */
  readonly #queue = new KeyedQueue();

  constructor(tenant: TenantApi, options: ThreadHistoryOptions) {
    const { threadId, agent = SOURCE, user = "user" } = options;
    this.#threadId = threadId;
    this.#authors = { agent, user };
    const input = { agent, createdBy: user, origin: { source: SOURCE } };
    this.#sessions = new KnownSessions(tenant, input);
  }

  load(): Promise<History<ThreadItem>> {
    return this.#load(
      THREAD_MESSAGE,
      toThreadItem,
      ({ parentId }, item): ThreadItem => ({ parentId, ...item }),
    );
  }

  async append(item: ThreadItem): Promise<void> {
    await this.#store(toStoredThread(item), item.parentId);
  }

  update(item: ThreadItem): Promise<void> {
    return this.append(item);
  }

  async delete(items: ThreadItem[]): Promise<void> {
    const ids = items.map(({ message }) => checkId(Object(message).id));
    await this.#remove(THREAD_MESSAGE, ids);
  }

  withFormat<Message, Content extends Record<string, unknown>>(
    format: MessageFormat<Message, Content>,
  ): FormattedHistory<Message> {
    const append = async (item: HistoryItem<Message>) => {
      const id = checkId(format.getId(item.message));
      const content = toJson(format.encode(item));
      await this.#store({ id, format: format.format, content }, item.parentId);
    };
    return {
      load: () =>
        this.#load(
          format.format,
          (entry) => toContent<Content>(format.format, entry),
          ({ id, parentId: parent_id }, content) =>
            format.decode({ id, parent_id, format: format.format, content }),
        ),
      append,
      update: append,
      delete: async (items) => {
        const ids = items.map(({ message }) => checkId(format.getId(message)));
        await this.#remove(format.format, ids);
      },
    };
  }

  /** `keep` gives the part of a message's newest entry that its item is made of. */
  async #load<Kept, Item>(
    format: string,
    keep: (entry: Entry, id: string) => Kept,
    toItem: (message: TreeMessage<unknown>, kept: Kept) => Item,
  ): Promise<History<Item>> {
    const key = await this.#key("load");
    const session = key === undefined ? undefined : await this.#sessions.find(key);
    if (session === undefined) return { headId: null, messages: [] };
    const { headId, messages } = await readTree(session, format, (entry, id) =>
      id === undefined ? undefined : keep(entry, id),
    );
    return {
      headId,
      messages: [...messages.values()].map((message) =>
        toItem(message, message.entries.at(-1) as Kept),
      ),
    };
  }

  async #store(stored: StoredMessage, parentId: string | null): Promise<void> {
    await this.#write((session) =>
      untilSettled(async () => {
        const end = this.#takeEnd(session, stored, parentId);
        const leaf =
          end === undefined
            ? await storeAtEnd(session, stored, parentId, this.#authors)
            : await storeAfter(session, stored, end, this.#authors);
        if (leaf === undefined) await storeAnywhere(session, stored, parentId, this.#authors);
        else this.#ends.set(session.id, { leaf, id: stored.id, format: stored.format });
      }),
    );
  }

  /**
   * The end of the thread, if it is cached and the message follows it. A compare-and-swap that then loses to
   * another process is retried without it.
   */
  #takeEnd(
    { id: sessionId }: SessionApi,
    { id, format }: StoredMessage,
    parentId: string | null,
  ): End | undefined {
    const end = this.#ends.get(sessionId);
    this.#ends.delete(sessionId);
    const isNext = end?.format === format && end.id === parentId && end.id !== id;
    return isNext ? end : undefined;
  }

  async #remove(format: string, ids: readonly string[]): Promise<void> {
    await this.#write(async (session) => {
      this.#ends.delete(session.id);
      const { messages } = await readTree(session, format, (entry) => entry.id);
      const entries = ids.flatMap((id) => messages.get(id)?.entries ?? []);
      for (const id of entries) await session.removeEntry(id);
    });
  }

  async #write(work: (session: SessionApi) => Promise<void>): Promise<void> {
    await this.#queue.run("", async () => {
      const key = await this.#key("write");
      if (key !== undefined) return this.#sessions.run(key, work);
      throw invalid(
        "threadId",
        "threadId must give the id of the thread before a message is stored",
      );
    });
  }

  async #key(purpose: "load" | "write"): Promise<string | undefined> {
    const given = this.#threadId;
    const threadId = typeof given === "function" ? await given(purpose) : given;
    if (threadId === undefined && typeof given === "function") return undefined;
    if (typeof threadId === "string" && threadId !== "") return `${SOURCE}:${threadId}`;
    throw invalid("threadId", "threadId must be a non-empty string, or a function that gives one");
  }
}

function storeAfter(
  session: SessionApi,
  stored: StoredMessage,
  { leaf }: End,
  authors: Authors,
): Promise<string | undefined> {
  const place = { parent: leaf, expectedLeaf: leaf };
  return append(session, toEntryInput(stored, authors), stored, place);
}

/**
 * Fast path: stores the last message of the thread or the next one, at a cost independent of the
 * thread's length. Gives the new leaf; undefined for any other message.
 */
async function storeAtEnd(
  session: SessionApi,
  stored: StoredMessage,
  parentId: string | null,
  authors: Authors,
): Promise<string | undefined> {
  const { leaf } = await session.meta();
  const last = leaf === null ? undefined : await session.getEntry(leaf);
  const lastId = last === undefined ? null : messageIdOf(last, stored.format);
  const input = toEntryInput(stored, authors);
  if (last !== undefined && lastId === stored.id) {
    if (isSame(last, stored)) return last.id;
    return (await replaceInPath(session, [last], input)).at(-1)?.id;
  }
  if (lastId !== parentId) return undefined;
  return append(session, input, stored, { parent: leaf, expectedLeaf: leaf });
}

/**
 * Slow path, which reads the thread: for a message on another branch, with children, or without its
 * parent.
 */
async function storeAnywhere(
  session: SessionApi,
  stored: StoredMessage,
  parentId: string | null,
  authors: Authors,
): Promise<void> {
  const tree = await readTree(session, stored.format, (entry) => entry);
  const { leaf: expectedLeaf } = tree;
  const input = toEntryInput(stored, authors);
  const known = tree.messages.get(stored.id)?.entries.at(-1);
  if (known === undefined) {
    const parent = entryToFollow(tree, parentId);
    const added = await append(session, input, stored, { parent, expectedLeaf });
    if (added !== undefined) return;
    // The id was that of a removed message, whose tombstone has its place.
    await store(input, (entries) => session.appendEntries(entries, { parent, expectedLeaf }));
    return;
  }
  if (isSame(known, stored)) return;
  const at = tree.path.indexOf(known);
  const after = tree.path.slice(at);
  if (at >= 0 && canReplace(after)) {
    await replaceInPath(session, after, input);
    return;
  }
  const parent = known.parentId;
  const [added] = await store(input, (entries) =>
    session.appendEntries(entries, { parent, expectedLeaf }),
  );
  // Another branch is shown, or a compaction follows: the path stays.
  await session.branch(expectedLeaf, { expectedLeaf: added?.id ?? null });
}

/** The entry below which a message that follows `parentId` is stored. */
function entryToFollow(tree: MessageTree<Entry>, parentId: string | null): string | null {
  // The leaf may be a compaction or a tombstone: the new message goes below it.
  if (parentId === tree.headId && tree.path.length > 0) return tree.path.at(-1)?.id ?? null;
  if (parentId === null) return null;
  const parent = tree.messages.get(parentId)?.entries.at(-1);
  if (parent !== undefined) return parent.id;
  throw invalid(
    "parentId",
    `message ${parentId} is not stored; append it before those that follow it`,
  );
}

/** Gives the entry; undefined if an entry with the message's id has other content. */
async function append(
  session: SessionApi,
  input: MessageEntryInput,
  stored: StoredMessage,
  options: { readonly parent: string | null; readonly expectedLeaf: string | null },
): Promise<string | undefined> {
  const [entry] = await store({ ...input, externalId: stored.id }, (entries) =>
    session.appendEntries(entries, options),
  );
  return entry !== undefined && isSame(entry, stored) ? entry.id : undefined;
}

const store = (
  input: MessageEntryInput,
  write: Parameters<typeof storeOrBare<Entry[]>>[1],
): Promise<Entry[]> => storeOrBare([input], write);

function toStoredThread({ message, runConfig }: ThreadItem): StoredMessage {
  const id = checkId(Object(message).id);
  const stored = { id, format: THREAD_MESSAGE, content: toJson(message) };
  return runConfig === undefined ? stored : { ...stored, runConfig: toJson(runConfig) };
}

function toThreadItem(entry: Entry, id: string): Omit<ThreadItem, "parentId"> {
  const stored = toStored(entry);
  if (stored?.format !== THREAD_MESSAGE) return { message: toPlainMessage(entry, id) };
  const message = toThreadMessage(stored.content);
  return stored.runConfig === undefined
    ? { message }
    : { message, runConfig: stored.runConfig as object };
}

function toContent<Content>(format: string, entry: Entry): Content {
  const stored = toStored(entry);
  return (stored?.format === format ? stored.content : toPlainContent(entry)) as Content;
}

function checkId(id: unknown): string {
  if (typeof id === "string" && id !== "") return id;
  throw invalid("message.id", "message.id must be a non-empty string");
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/**
 * A `ThreadMessage`, which is returned unchanged. `any`, because the package's own type is a union
 * that only the package names.
 */
// biome-ignore lint/suspicious/noExplicitAny: the package's union of messages must be assignable both ways.
type ThreadMessageLike = any;

/** A message, and the id of the message before it. */
export interface HistoryItem<Message> {
  parentId: string | null;
  message: Message;
}

export interface ThreadItem extends HistoryItem<ThreadMessageLike> {
  runConfig?: { readonly custom?: Record<string, unknown> };
}

export interface History<Item> {
  /** The last message of the branch that is shown; null if there is none. */
  headId?: string | null;
  /** A message comes after its parent. */
  messages: Item[];
}

/** How another runtime, such as the AI SDK's, stores its messages. */
export interface MessageFormat<Message, Content extends Record<string, unknown>> {
  format: string;
  encode(item: HistoryItem<Message>): Content;
  decode(stored: {
    id: string;
    parent_id: string | null;
    format: string;
    content: Content;
  }): HistoryItem<Message>;
  getId(message: Message): string;
}

/** The result of `withFormat`. */
export interface FormattedHistory<Message> {
  load(): Promise<History<HistoryItem<Message>>>;
  append(item: HistoryItem<Message>): Promise<void>;
  update(item: HistoryItem<Message>, localMessageId: string): Promise<void>;
  delete(items: HistoryItem<Message>[]): Promise<void>;
}

/** A `ThreadHistoryAdapter`. */
export interface ThreadHistory {
  load(): Promise<History<ThreadItem>>;
  append(item: ThreadItem): Promise<void>;
  update(item: ThreadItem): Promise<void>;
  delete(items: ThreadItem[]): Promise<void>;
  withFormat<Message, Content extends Record<string, unknown>>(
    format: MessageFormat<Message, Content>,
  ): FormattedHistory<Message>;
}
