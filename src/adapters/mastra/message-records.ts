/**
 * Messages as records: one under the place of the message, and one under its id that names the place.
 * Both are written in one transaction with the time of the thread's last change. Concurrent writers of a
 * message conflict on the record of its id (compare-and-swap on its version).
 */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import { isPlainObject } from "../../model/json.ts";
import type { StoredRecord } from "../../model/record.ts";
import { untilWritten } from "../common/settle.ts";
import { invalid } from "./paging.ts";
import {
  idKey,
  type MessagePlace,
  messagePlace,
  ownerKey,
  readMessagePlace,
} from "./record-keys.ts";
import { checkName, type RecordStore, toDate, toJson, toJsonText } from "./record-store.ts";
import type { MastraMessage, MastraMessageUpdate } from "./sdk-types.ts";
import type { ThreadRecords } from "./thread-records.ts";

/** Messages and bytes of JSON in one transaction: each message is up to four of its 1,000 operations. */
const BATCH_MESSAGES = 200;
const BATCH_LENGTH = 4 * 1024 * 1024;

/** The stored ids and places of some messages. */
interface Known {
  /** By the keys of their ids. */
  readonly ids: ReadonlyMap<string, StoredRecord>;
  readonly places: ReadonlyMap<string, MessagePlace>;
}

const NONE_KNOWN: Known = { ids: new Map(), places: new Map() };

export class MessageRecords {
  readonly #store: RecordStore;
  readonly #threads: ThreadRecords;
  #lastStamp = 0;

  constructor(store: RecordStore, threads: ThreadRecords) {
    this.#store = store;
    this.#threads = threads;
  }

  /** The existing ones, in the order of the ids. */
  async findById(ids: readonly string[]): Promise<MastraMessage[]> {
    const { places } = await this.#known(ids);
    return this.read(ids.flatMap((id) => places.get(id) ?? []));
  }

  async placeOf(id: string): Promise<MessagePlace | undefined> {
    return (await this.#known([id])).places.get(id);
  }

  /** The existing ones, in the order of the places. */
  async read(places: readonly MessagePlace[]): Promise<MastraMessage[]> {
    const found = await this.#store.findAll(places.map(({ key }) => key));
    return places.flatMap(({ key }) => {
      const record = found.get(key);
      return record === undefined ? [] : [toMessage(record)];
    });
  }

  /**
   * Stores messages, replacing those with the same ids, in atomic batches of some hundreds. Gives
   * their previous places.
   */
  async save(messages: readonly MastraMessage[]): Promise<MessagePlace[]> {
    const last = new Map(messages.map((message) => [message.id, message]));
    const before: MessagePlace[] = [];
    for (const batch of batchesOf([...last.values()])) {
      let known: Known | undefined;
      await untilWritten(async () => {
        // Most are new: the first write goes without a read, and is a conflict if one is stored.
        known = known === undefined ? NONE_KNOWN : await this.#known(batch.map(({ id }) => id));
        await this.#write(batch, known);
      });
      before.push(...(known?.places.values() ?? []));
    }
    return before;
  }

  /** Merges changes into the current messages; missing ones are skipped. */
  async update(
    updates: readonly MastraMessageUpdate[],
  ): Promise<{ readonly messages: MastraMessage[]; readonly before: readonly MessagePlace[] }> {
    const messages: MastraMessage[] = [];
    const before: MessagePlace[] = [];
    for (let i = 0; i < updates.length; i += BATCH_MESSAGES) {
      const part = updates.slice(i, i + BATCH_MESSAGES);
      await untilWritten(async () => {
        const known = await this.#known(part.map(({ id }) => id));
        const stored = await this.read([...known.places.values()]);
        const byId = new Map(stored.map((message) => [message.id, message]));
        for (const update of part) {
          const message = byId.get(update.id);
          if (message !== undefined) byId.set(update.id, merge(message, update));
        }
        await this.#write([...byId.values()], known);
        messages.push(...byId.values());
        before.push(...known.places.values());
      });
    }
    return { messages, before };
  }

  /** Gives the places of the existing ones. */
  async delete(ids: readonly string[]): Promise<MessagePlace[]> {
    const deleted: MessagePlace[] = [];
    const all = [...new Set(ids)];
    for (let i = 0; i < all.length; i += BATCH_MESSAGES) {
      const part = all.slice(i, i + BATCH_MESSAGES);
      const places = await untilWritten(async () => {
        const known = await this.#known(part);
        const operations = [...known.ids.values()].flatMap(({ key, value, version }) => [
          this.#store.delete(key, { expectedVersion: version }),
          this.#store.delete(String(value)),
        ]);
        const places = [...known.places.values()];
        if (operations.length > 0)
          await this.#threads.writeTouching(threadIdsOf(places), operations);
        return places;
      });
      deleted.push(...places);
    }
    return deleted;
  }

  /**
   * The places of a thread's messages, the newest first. `limit` is the number that the caller
   * probably needs.
   */
  async *places(prefix: string, limit?: number): AsyncGenerator<MessagePlace> {
    for await (const { key } of this.#store.infos(prefix, limit)) yield readMessagePlace(key);
  }

  /** The messages of a thread with their places, the newest first. */
  async *messages(prefix: string): AsyncGenerator<readonly [MessagePlace, MastraMessage]> {
    for await (const record of this.#store.values(prefix)) {
      yield [readMessagePlace(record.key), toMessage(record)];
    }
  }

  async #known(ids: readonly string[]): Promise<Known> {
    const records = await this.#store.findAll(ids.map((id) => idKey(checkName(id, "message.id"))));
    const places = [...records.values()].map(({ value }) => readMessagePlace(String(value)));
    return { ids: records, places: new Map(places.map((place) => [place.id, place])) };
  }

  async #write(messages: readonly MastraMessage[], known: Known): Promise<void> {
    const operations: RecordOperation[] = [];
    const owners = new Set<string>();
    const touched: MessagePlace[] = [];
    for (const message of messages) {
      const before = known.places.get(message.id);
      const place = this.#place(message, before);
      const expectedVersion = known.ids.get(idKey(message.id))?.version ?? null;
      operations.push(
        this.#store.put(place.key, toJson(message, "message")),
        this.#store.put(idKey(message.id), place.key, { expectedVersion }),
      );
      if (before !== undefined && before.key !== place.key) {
        operations.push(this.#store.delete(before.key));
      }
      touched.push(place, ...(before === undefined ? [] : [before]));
      if (place.resourceId !== "") owners.add(ownerKey(place.resourceId, place.threadId));
    }
    if (operations.length === 0) return;
    const marks = [...owners].map((key) => this.#store.put(key, null));
    await this.#threads.writeTouching(threadIdsOf(touched), [...operations, ...marks]);
  }

  /** The previous place, or a new one if the thread, the time or the resource has changed. */
  #place(message: MastraMessage, before: MessagePlace | undefined): MessagePlace {
    const { id, threadId = "", resourceId = "", createdAt } = message;
    const time = new Date(createdAt).getTime();
    const isThere =
      before?.threadId === threadId && before.resourceId === resourceId && before.time === time;
    if (isThere) return before;
    this.#lastStamp = Math.max(this.#lastStamp + 1, Date.now() * 1_000);
    return messagePlace({ threadId, time, stamp: this.#lastStamp, resourceId, id });
  }
}

/** The message in its stored form. Throws `invalid_input` naming the wrong field. */
export function checkMessage(message: MastraMessage): MastraMessage {
  if (!isPlainObject(message)) throw invalid("message", "message must be an object");
  const { resourceId } = message as MastraMessage;
  checkName(message["id"], "message.id");
  checkName(message["threadId"], "message.threadId");
  if (resourceId !== undefined) checkName(resourceId, "message.resourceId");
  const createdAt = toDate(message["createdAt"] ?? new Date(), "message.createdAt");
  return { ...(message as MastraMessage), createdAt };
}

function toMessage({ value }: StoredRecord): MastraMessage {
  const { content, createdAt, ...message } = value as unknown as MastraMessage;
  const whole =
    typeof content === "string"
      ? { format: 2, content, parts: [{ type: "text", text: content }] }
      : content;
  return { ...message, content: whole, createdAt: new Date(createdAt) };
}

function merge(message: MastraMessage, update: MastraMessageUpdate): MastraMessage {
  const given = Object.entries(update).filter(([, value]) => value !== undefined);
  const changed = { ...message, ...Object.fromEntries(given) };
  if (isPlainObject(message.content) && isPlainObject(update.content)) {
    const { metadata } = message.content;
    const { metadata: added } = update.content;
    changed.content = { ...message.content, ...update.content };
    if (isPlainObject(metadata) && isPlainObject(added)) {
      changed.content.metadata = { ...metadata, ...added };
    }
  }
  return checkMessage(changed);
}

function threadIdsOf(places: readonly MessagePlace[]): string[] {
  return places.map(({ threadId }) => threadId);
}

function* batchesOf(messages: readonly MastraMessage[]): Generator<MastraMessage[]> {
  let batch: MastraMessage[] = [];
  let length = 0;
  for (const message of messages) {
    const own = toJsonText(message, "message").length;
    if (batch.length === BATCH_MESSAGES || (batch.length > 0 && length + own > BATCH_LENGTH)) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(message);
    length += own;
  }
  if (batch.length > 0) yield batch;
}
