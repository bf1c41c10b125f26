/**
 * Lists of messages, of threads or of a resource. Reads only the messages of a page where the
 * filters permit it.
 */

import type { MessageRecords } from "./message-records.ts";
import {
  checkScalars,
  directionOf,
  fieldOf,
  hasAll,
  invalid,
  isWithin,
  pageOf,
  sliceOf,
} from "./paging.ts";
import { type MessagePlace, messagesOf } from "./record-keys.ts";
import type { IncludedMessage, MastraMessage, MessageListing, Page } from "./sdk-types.ts";

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
