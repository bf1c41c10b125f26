/**
 * Mastra's memory domain: threads, messages, resources with their working memories, and observations, as
 * records.
 *
 * The messages of a thread are a session as well, for searches and for people; see `message-mirror.ts`.
 */

import { KeyedQueue } from "../../async/keyed-queue.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import type { StoredRecord } from "../../model/record.ts";
import { toRecordText } from "../common/records.ts";
import { untilWritten } from "../common/sessions.ts";
import { type Authors, MessageMirror } from "./message-mirror.ts";
import { checkMessage, listMessages, type MessagePage, MessageRecords } from "./message-records.ts";
import { ObservationRecords } from "./observation-records.ts";
import {
  checkName,
  invalid,
  isWithin,
  type MessagePlace,
  messagesOf,
  RecordStore,
  resourceKey,
  timeAfter,
  toDate,
  toJson,
} from "./record-store.ts";
import type {
  DateRange,
  MastraMessage,
  MastraMessageUpdate,
  MastraResource,
  MastraThread,
  MessageListing,
  Page,
  ThreadCopy,
  ThreadListing,
} from "./sdk-types.ts";
import { ThreadRecords, threadNotFound } from "./thread-records.ts";

/**
 * Resources and their working memories as records; `records.search` finds a working memory by its words.
 */
class ResourceRecords {
  readonly #store: RecordStore;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async find(resourceId: string): Promise<MastraResource | null> {
    const record = await this.#store.find(resourceKey(checkName(resourceId, "resourceId")));
    return record === undefined ? null : toResource(record);
  }

  async save(resource: MastraResource): Promise<void> {
    checkName(resource.id, "resource.id");
    toDate(resource.createdAt, "resource.createdAt");
    toDate(resource.updatedAt, "resource.updatedAt");
    await this.#put(resource);
  }

  /** Updates the given fields of a resource, which is created if missing. */
  async update(change: {
    readonly resourceId: string;
    readonly workingMemory?: string;
    readonly metadata?: Record<string, unknown>;
  }): Promise<MastraResource> {
    const { resourceId: id, workingMemory, metadata } = change;
    return untilWritten(async () => {
      const record = await this.#store.find(resourceKey(checkName(id, "resourceId")));
      const now = new Date();
      const before =
        record === undefined ? { id, createdAt: now, updatedAt: now } : toResource(record);
      const resource: MastraResource = {
        ...before,
        metadata: { ...before.metadata, ...metadata },
        updatedAt: record === undefined ? now : timeAfter(before.updatedAt),
      };
      if (workingMemory !== undefined) resource.workingMemory = workingMemory;
      await this.#put(resource, record?.version ?? null);
      return resource;
    });
  }

  async #put(resource: MastraResource, expectedVersion?: string | null): Promise<void> {
    const { workingMemory } = resource;
    const text = toRecordText(typeof workingMemory === "string" ? workingMemory : "");
    const options = expectedVersion === undefined ? { text } : { text, expectedVersion };
    const value = toJson(resource, "resource");
    await this.#store.write([this.#store.put(resourceKey(resource.id), value, options)]);
  }
}

function toResource({ value }: StoredRecord): MastraResource {
  const resource = value as unknown as MastraResource;
  return {
    ...resource,
    createdAt: new Date(resource.createdAt),
    updatedAt: new Date(resource.updatedAt),
  };
}

/** Messages of a copy that are in memory at a time. */
const COPIED_AT_ONCE = 200;

export interface MemoryDomainSettings {
  readonly namespace: string;
  readonly authors: Authors;
  /** Whether messages also become sessions. */
  readonly sessions: boolean;
}

export class MemoryDomain {
  readonly #store: RecordStore;
  readonly #threads: ThreadRecords;
  readonly #messages: MessageRecords;
  readonly #resources: ResourceRecords;
  readonly observations: ObservationRecords;
  readonly #mirror: MessageMirror | undefined;
  /** A keyed mutex, so that writers of this process do not conflict on records. */
  readonly #queue = new KeyedQueue();

  constructor(tenant: TenantApi, { namespace, authors, sessions }: MemoryDomainSettings) {
    this.#store = new RecordStore(tenant.records, namespace);
    this.#threads = new ThreadRecords(this.#store);
    this.#messages = new MessageRecords(this.#store, this.#threads);
    this.#resources = new ResourceRecords(this.#store);
    this.observations = new ObservationRecords(this.#store);
    this.#mirror = sessions ? new MessageMirror(tenant, `${namespace}:`, authors) : undefined;
  }

  async dangerouslyClearAll(): Promise<void> {
    await this.#store.clear();
    await this.#mirror?.clear();
  }

  /** Null for an unknown thread, or one of another resource. */
  async getThreadById(input: {
    readonly threadId: string;
    readonly resourceId?: string;
  }): Promise<MastraThread | null> {
    const thread = await this.#threads.find(input.threadId);
    const isOthers = input.resourceId !== undefined && thread?.resourceId !== input.resourceId;
    return isOthers ? null : thread;
  }

  async saveThread({ thread }: { readonly thread: MastraThread }): Promise<MastraThread> {
    await this.#threads.save(thread);
    await this.#setTitle(thread.id, thread.title);
    return thread;
  }

  async updateThread(input: {
    readonly id: string;
    readonly title?: string;
    readonly metadata?: Record<string, unknown>;
  }): Promise<MastraThread> {
    const { id, title, metadata } = input;
    const thread = await this.#threads.update(id, () => ({ title, metadata }));
    if (thread === undefined) throw threadNotFound(id);
    await this.#setTitle(id, title);
    return thread;
  }

  /** Atomic, also beside other processes. */
  async updateThreadMetadata(input: {
    readonly id: string;
    readonly resourceId?: string;
    readonly update: (thread: MastraThread) => Record<string, unknown> | undefined;
  }): Promise<MastraThread | null> {
    const { id, resourceId, update } = input;
    let isOthers = false;
    const thread = await this.#threads.update(id, (current) => {
      isOthers = resourceId !== undefined && current.resourceId !== resourceId;
      const metadata = isOthers ? undefined : update(current);
      return metadata === undefined ? null : { metadata };
    });
    return isOthers ? null : (thread ?? null);
  }

  async updateThreadResourceId(input: {
    readonly threadId: string;
    readonly resourceId: string;
  }): Promise<MastraThread> {
    const { threadId, resourceId } = input;
    checkName(resourceId, "resourceId");
    const before = await this.#threads.find(threadId);
    if (before === null) throw threadNotFound(threadId);
    if (before.resourceId === resourceId) return before;
    const ids = (await this.#placesOf(threadId)).map(({ id }) => id);
    await this.#messages.update(ids.map((id) => ({ id, resourceId })));
    const thread = await this.#threads.update(threadId, () => ({ resourceId }));
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  }

  async deleteThread({ threadId }: { readonly threadId: string }): Promise<void> {
    await this.#queue.run(threadId, async () => {
      await this.#threads.delete(threadId);
      await this.#messages.delete((await this.#placesOf(threadId)).map(({ id }) => id));
      await this.observations.clearObservationalMemory(threadId, "");
      await this.#mirror?.deleteThread(threadId);
    });
  }

  listThreads(input: ThreadListing): Promise<Page & { threads: MastraThread[] }> {
    return this.#threads.list(input);
  }

  async listMessages(
    input: MessageListing & {
      readonly threadId: string | readonly string[];
      readonly resourceId?: string;
    },
  ): Promise<MessagePage> {
    const { threadId, resourceId, ...listing } = input;
    const ids = typeof threadId === "string" ? [threadId] : threadId;
    const isThread = (id: unknown) => typeof id === "string" && id.trim() !== "";
    if (!Array.isArray(ids) || ids.length === 0 || !ids.every(isThread)) {
      const what = "a non-empty string or array of non-empty strings";
      throw invalid("threadId", `threadId must be ${what}`);
    }
    // Mastra treats an empty resource as none.
    return listMessages(this.#messages, ids, resourceId || undefined, listing);
  }

  async listMessagesByResourceId(
    input: MessageListing & { readonly resourceId: string },
  ): Promise<MessagePage> {
    const { resourceId, ...listing } = input;
    const threadIds = await this.#threads.idsOf(checkName(resourceId, "resourceId"));
    return listMessages(this.#messages, threadIds, resourceId, listing);
  }

  async listMessagesById(input: {
    readonly messageIds: readonly string[];
  }): Promise<{ messages: MastraMessage[] }> {
    const messages = await this.#messages.findById(input.messageIds);
    return { messages: messages.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime()) };
  }

  async saveMessages(input: {
    readonly messages: readonly MastraMessage[];
  }): Promise<{ messages: MastraMessage[] }> {
    const messages = input.messages.map(checkMessage);
    for (const [threadId, own] of byThread(messages)) {
      await this.#queue.run(threadId, async () => {
        await this.#mirror?.save(threadId, own, () => this.#threads.find(threadId));
        const before = await this.#messages.save(own);
        await this.#unmirror(before.filter((place) => place.threadId !== threadId));
      });
    }
    return { messages };
  }

  async updateMessages(input: {
    readonly messages: readonly MastraMessageUpdate[];
  }): Promise<MastraMessage[]> {
    const { messages } = input;
    const { messages: updated, before } = await this.#messages.update(messages);
    const threadOf = new Map(updated.map(({ id, threadId }) => [id, threadId]));
    await this.#unmirror(before.filter(({ id, threadId }) => threadOf.get(id) !== threadId));
    for (const [threadId, own] of byThread(updated)) {
      await this.#mirror?.save(threadId, own, () => this.#threads.find(threadId));
    }
    return updated;
  }

  async deleteMessages(messageIds: readonly string[]): Promise<void> {
    await this.#unmirror(await this.#messages.delete(messageIds));
  }

  /** A new thread with copies of messages, under ids of their own. */
  async copyThread(
    input: ThreadCopy,
  ): Promise<{ thread: MastraThread; messageIdMap: Record<string, string> }> {
    const { sourceThreadId } = input;
    const source = await this.#threads.find(sourceThreadId);
    if (source === null) throw threadNotFound(sourceThreadId, "Source thread");
    const plan = planCopy(input, source, await this.#placesOf(sourceThreadId));
    const { id } = plan.thread;
    if ((await this.#threads.find(id)) !== null) {
      throw invalid("newThreadId", `Thread with id ${id} already exists; choose another id`);
    }
    await this.saveThread({ thread: plan.thread });
    const messageIdMap: Record<string, string> = {};
    for (let i = 0; i < plan.places.length; i += COPIED_AT_ONCE) {
      const messages = await this.#messages.read(plan.places.slice(i, i + COPIED_AT_ONCE));
      const copies = messages.map((message) => copyOf(message, plan.thread, input.resourceId));
      for (const [n, message] of messages.entries()) messageIdMap[message.id] = copies[n]?.id ?? "";
      await this.saveMessages({ messages: copies });
    }
    return { thread: plan.thread, messageIdMap };
  }

  getResourceById(input: { readonly resourceId: string }): Promise<MastraResource | null> {
    return this.#resources.find(input.resourceId);
  }

  async saveResource({ resource }: { readonly resource: MastraResource }): Promise<MastraResource> {
    await this.#resources.save(resource);
    return resource;
  }

  updateResource(input: {
    readonly resourceId: string;
    readonly workingMemory?: string;
    readonly metadata?: Record<string, unknown>;
  }): Promise<MastraResource> {
    return this.#resources.update(input);
  }

  /** The newest first. */
  async #placesOf(threadId: string): Promise<MessagePlace[]> {
    const places: MessagePlace[] = [];
    for await (const place of this.#messages.places(messagesOf(threadId))) places.push(place);
    return places;
  }

  async #unmirror(places: readonly MessagePlace[]): Promise<void> {
    for (const [threadId, own] of byThread(places)) {
      const ids = own.map(({ id }) => id);
      await this.#mirror?.remove(threadId, ids);
    }
  }

  async #setTitle(threadId: string, title: string | undefined): Promise<void> {
    if (title !== undefined && title !== "") await this.#mirror?.setTitle(threadId, title);
  }
}

function byThread<Item extends { readonly threadId?: string }>(
  items: readonly Item[],
): Map<string, Item[]> {
  return Map.groupBy(items, ({ threadId = "" }) => threadId);
}

/** Copies a thread: selects the messages, and describes the new thread. */
interface CopyPlan {
  readonly thread: MastraThread;
  /** The messages to copy, the oldest first. */
  readonly places: readonly MessagePlace[];
}

/** `places` are the source's, the newest first. */
function planCopy(
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
function copyOf(
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
