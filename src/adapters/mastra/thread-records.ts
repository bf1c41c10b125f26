/** Threads as records. */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import { BackscrollError } from "../../model/errors.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { StoredRecord } from "../../model/record.ts";
import { untilWritten } from "../common/sessions.ts";
import {
  checkName,
  checkWanted,
  directionOf,
  fieldOf,
  hasAll,
  ownerKey,
  pageOf,
  type RecordStore,
  sliceOf,
  THREADS,
  threadKey,
  threadOfOwner,
  threadsOf,
  timeAfter,
  toDate,
  toJson,
} from "./record-store.ts";
import type { MastraThread, Page, ThreadListing } from "./sdk-types.ts";

/** The default page size, as Mastra's. */
const USUAL_PAGE = 100;

/** Threads whose records this process caches. */
const KNOWN_THREADS = 1_000;

/** Changes to a thread; a field that is undefined stays. */
export interface ThreadChange {
  readonly title?: string | undefined;
  /** Merged into the stored metadata. */
  readonly metadata?: Record<string, unknown> | undefined;
  readonly resourceId?: string | undefined;
}

export class ThreadRecords {
  readonly #store: RecordStore;
  /** Records as `writeTouching` has last written them, by their keys. */
  readonly #touched = new RecentMap<string, StoredRecord>(KNOWN_THREADS);

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async find(threadId: string): Promise<MastraThread | null> {
    const record = await this.#store.find(threadKey(checkName(threadId, "threadId")));
    return record === undefined ? null : toThread(record);
  }

  async save(thread: MastraThread): Promise<void> {
    const { id, resourceId } = thread;
    checkName(id, "thread.id");
    checkName(resourceId, "thread.resourceId");
    toDate(thread.createdAt, "thread.createdAt");
    toDate(thread.updatedAt, "thread.updatedAt");
    await this.#store.write([
      this.#store.put(threadKey(id), toJson(thread, "thread")),
      this.#store.put(ownerKey(resourceId, id), null),
    ]);
  }

  /**
   * Changes a thread by compare-and-swap: after a concurrent change, `change` is called again. Null
   * from it changes nothing. Undefined for an unknown thread.
   */
  async update(
    threadId: string,
    change: (thread: MastraThread) => ThreadChange | null,
  ): Promise<MastraThread | undefined> {
    return untilWritten(async () => {
      const record = await this.#store.find(threadKey(checkName(threadId, "id")));
      if (record === undefined) return undefined;
      const thread = toThread(record);
      const changes = change(thread);
      if (changes === null) return thread;
      const { title = thread.title, resourceId = thread.resourceId, metadata } = changes;
      const merged = { ...thread.metadata, ...metadata };
      const updatedAt = timeAfter(thread.updatedAt);
      const value = toJson({ ...thread, title, resourceId, metadata: merged, updatedAt }, "thread");
      const { version: expectedVersion } = record;
      await this.#store.write([
        this.#store.put(record.key, value, { expectedVersion }),
        this.#store.put(ownerKey(resourceId, threadId), null),
      ]);
      return toThread({ ...record, value });
    });
  }

  async delete(threadId: string): Promise<void> {
    const thread = await this.find(threadId);
    if (thread === null) return;
    await this.#store.deleteAll([threadKey(threadId), ownerKey(thread.resourceId, threadId)]);
  }

  /**
   * Writes records, and sets the time of the last change of the existing threads among these.
   * Throws `record_conflict` if a cached thread has another version by now; the next call reads it.
   */
  async writeTouching(
    threadIds: Iterable<string>,
    operations: readonly RecordOperation[],
  ): Promise<void> {
    const touched = (await this.#take([...new Set(threadIds)].map(threadKey))).map((record) => {
      const thread = toThread(record);
      const value = toJson({ ...thread, updatedAt: timeAfter(thread.updatedAt) }, "thread");
      return { record, value };
    });
    const results = await this.#store.write([
      ...touched.map(({ record: { key, version: expectedVersion }, value }) =>
        this.#store.put(key, value, { expectedVersion }),
      ),
      ...operations,
    ]);
    for (const [i, { record, value }] of touched.entries()) {
      this.#touched.set(record.key, { ...record, ...results[i], value });
    }
  }

  /** The existing records: cached ones, which leave the cache, and the others read. */
  async #take(keys: readonly string[]): Promise<StoredRecord[]> {
    const cached = keys.map((key) => this.#touched.get(key));
    const found = await this.#store.findAll(keys.filter((_, i) => cached[i] === undefined));
    for (const key of keys) this.#touched.delete(key);
    return keys.flatMap((key, i) => cached[i] ?? found.get(key) ?? []);
  }

  async list(input: ThreadListing): Promise<Page & { threads: MastraThread[] }> {
    const slice = sliceOf(input, USUAL_PAGE);
    const wanted = checkWanted(input.filter?.metadata);
    const field = fieldOf(input.orderBy);
    const direction = directionOf(input.orderBy, "DESC");
    const threads = (await this.#read(input.filter?.resourceId))
      .filter(({ metadata }) => hasAll(metadata, wanted))
      .sort((a, b) => direction * (a[field].getTime() - b[field].getTime()));
    const { offset, limit } = slice;
    return { ...pageOf(slice, threads.length), threads: threads.slice(offset, offset + limit) };
  }

  /** The threads that are, or were, a resource's. */
  async idsOf(resourceId: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const { key } of this.#store.infos(threadsOf(resourceId)))
      ids.push(threadOfOwner(key));
    return ids;
  }

  async #read(resourceId: string | undefined): Promise<MastraThread[]> {
    if (resourceId !== undefined && resourceId !== "") {
      const ids = await this.idsOf(resourceId);
      const found = await this.#store.findAll(ids.map(threadKey));
      return [...found.values()].map(toThread).filter((thread) => thread.resourceId === resourceId);
    }
    const threads: MastraThread[] = [];
    for await (const record of this.#store.values(THREADS)) threads.push(toThread(record));
    return threads;
  }
}

/** In Mastra's words: programs look for them. */
export function threadNotFound(threadId: string, what = "Thread"): BackscrollError {
  return new BackscrollError(
    "record_not_found",
    `${what} with id ${threadId} not found; save it first`,
    { details: { threadId } },
  );
}

function toThread({ value }: StoredRecord): MastraThread {
  const thread = value as unknown as MastraThread;
  return {
    ...thread,
    createdAt: new Date(thread.createdAt),
    updatedAt: new Date(thread.updatedAt),
  };
}
