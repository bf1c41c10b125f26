/**
 * Messages as records: one under the place of the message, and one under its id that names the place.
 * Both are written in one transaction with the time of the thread's last change. Concurrent writers of a
 * message conflict on the record of its id (compare-and-swap on its version).
 */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import { defined } from "../../model/defined.ts";
import { isPlainObject } from "../../model/json.ts";
import type { StoredRecord } from "../../model/record.ts";
import { untilWritten } from "../common/sessions.ts";
import {
  checkName,
  checkScalars,
  directionOf,
  fieldOf,
  hasAll,
  idKey,
  invalid,
  isWithin,
  type MessagePlace,
  messagePlace,
  messagesOf,
  ownerKey,
  pageOf,
  type RecordStore,
  readMessagePlace,
  sliceOf,
  toDate,
  toJson,
  toJsonText,
} from "./record-store.ts";
import type {
  IncludedMessage,
  MastraMessage,
  MastraMessageUpdate,
  MessageListing,
  Page,
} from "./sdk-types.ts";
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
  const changed = { ...message, ...defined(update) };
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

// Lists of messages, of threads or of a resource. Reads only the messages of a page where the
// filters permit it.

/** The default page size, as Mastra's. */
const USUAL_PAGE = 40;
/** Places per read where the newest suffice; filters may drop some. */
const FEW = 50;

export type MessagePage = Page & { messages: MastraMessage[] };

/** `resourceId`: only messages of this resource. */
export async function listMessages(
  records: MessageRecords,
  threadIds: readonly string[],
  resourceId: string | undefined,
  input: MessageListing,
): Promise<MessagePage> {
  const slice = sliceOf(input, USUAL_PAGE);
  if (fieldOf(input.orderBy) !== "createdAt") {
    throw invalid("orderBy.field", "orderBy.field must be createdAt: messages have no other time");
  }
  const direction = directionOf(input.orderBy, "ASC");
  const wanted = checkScalars(input.filter?.metadata);
  const { include = [] } = input;
  const inOrder = (a: MessagePlace, b: MessagePlace) =>
    direction * (a.time - b.time || a.stamp - b.stamp);
  const isMatch = (place: MessagePlace) =>
    (resourceId === undefined || place.resourceId === resourceId) &&
    isWithin(place.time, input.filter?.dateRange);

  if (slice.perPage === false && include.length === 0 && input.filter?.dateRange === undefined) {
    const found: (readonly [MessagePlace, MastraMessage])[] = [];
    for (const threadId of new Set(threadIds)) {
      for await (const each of records.messages(messagesOf(threadId))) {
        const [place, { content }] = each;
        if (isMatch(place) && hasAll(Object(content).metadata, wanted)) found.push(each);
      }
    }
    found.sort(([a], [b]) => inOrder(a, b));
    return { messages: found.map(([, message]) => message), ...pageOf(slice, found.length) };
  }
  const { offset, limit } = slice;
  const isBounded = direction < 0 && input.includeTotal === false && wanted.length === 0;
  // One more than the page has tells whether there are more.
  const enough = isBounded && threadIds.length === 1 ? offset + limit + 1 : Number.MAX_SAFE_INTEGER;
  let places = limit === 0 ? [] : await matchesOf(records, threadIds, isMatch, enough);
  if (wanted.length > 0) {
    const ids = new Set(
      (await records.read(places))
        .filter(({ content }) => hasAll(Object(content).metadata, wanted))
        .map(({ id }) => id),
    );
    places = places.filter(({ id }) => ids.has(id));
  }
  places.sort(inOrder);
  const shown = new Map(
    places.slice(offset, offset + limit).map((place) => [place.id, place] as const),
  );
  const ofPage = shown.size;
  for (const place of await includedOf(records, include, resourceId)) shown.set(place.id, place);
  const messages = await records.read([...shown.values()].sort(inOrder));
  const page = pageOf(slice, places.length);
  if (include.length === 0 || ofPage === 0 || wanted.length > 0) return { messages, ...page };
  // Included messages may be those that the page lacks.
  const all = new Set(places.map(({ id }) => id));
  const seen = [...shown.keys()].filter((id) => all.has(id)).length;
  return { messages, ...page, hasMore: seen < places.length };
}

async function matchesOf(
  records: MessageRecords,
  threadIds: readonly string[],
  isMatch: (place: MessagePlace) => boolean,
  enough: number,
): Promise<MessagePlace[]> {
  const matches: MessagePlace[] = [];
  for (const threadId of new Set(threadIds)) {
    const few = enough === Number.MAX_SAFE_INTEGER ? undefined : FEW;
    for await (const place of records.places(messagesOf(threadId), few)) {
      if (isMatch(place)) matches.push(place);
      if (matches.length >= enough) break;
    }
  }
  return matches;
}

/** The included messages with their neighbours in their own threads. */
async function includedOf(
  records: MessageRecords,
  include: readonly IncludedMessage[],
  resourceId: string | undefined,
): Promise<MessagePlace[]> {
  const places: MessagePlace[] = [];
  const isMatch = (place: MessagePlace) =>
    resourceId === undefined || place.resourceId === resourceId;
  for (const { id, withPreviousMessages = 0, withNextMessages = 0 } of include) {
    const place = await records.placeOf(id);
    if (place === undefined || !isMatch(place)) continue;
    const all = await matchesOf(records, [place.threadId], isMatch, Number.MAX_SAFE_INTEGER);
    // The newest come first.
    const at = all.findIndex((other) => other.id === id);
    places.push(...all.slice(Math.max(0, at - withNextMessages), at + withPreviousMessages + 1));
  }
  return places;
}
