/**
 * An append on its way to the writer's thread, and the answer on its way back.
 *
 * What crosses a thread is copied, and a copied object carries the name of each of its fields. For
 * a hundred entries the names cost more than what they name, so entries and places travel as one
 * flat list of values, in which what few words say, such as the role, is the number of the word.
 *
 * The content of a history travels as bytes that are handed over and not copied: that is how the
 * writer needs it, and making text of it there would cost as much as storing it. So do payloads: a
 * copied view takes along all of the memory that it is a view of, which is ten payloads large.
 */

import type { Usage } from "../../model/entry.ts";
import type { Payload } from "../../transcript/content.ts";
import { NONCE_BYTES } from "../../transcript/hash.ts";
import type { AppendRequest, AppendResult, NewEntry, PlacedEntry } from "../records.ts";

/** What most entries do not have. A field that is missing here does not arrive: a test has them all. */
const RARE = [
  "supersedes",
  "contextWindow",
  "estimatedContext",
  "feedDetails",
  "copiedFrom",
  "status",
] as const;

type Rare = Partial<Pick<NewEntry, (typeof RARE)[number]>>;

export interface AppendParcel {
  readonly tenant: string;
  /** The request without its entries. */
  readonly request: AppendRequest;
  /** `ENTRY_VALUES` of each entry, in the order of `packEntry`. */
  readonly values: readonly unknown[];
  /** What of `values` is the number of a word here. */
  readonly words: readonly (string | null)[];
  /**
   * Of each entry: if it is a history's, what it says behind room for its nonce, then `values` has how
   * many bytes that is; and its payloads.
   */
  readonly contents: ArrayBuffer | null;
}

const ENTRY_VALUES = 18;

export function packAppend(tenant: string, request: AppendRequest): AppendParcel {
  const { entries, isHistory = false } = request;
  const values: unknown[] = [];
  const words: (string | null)[] = [];
  const sizes = isHistory ? entries.map(({ content }) => Buffer.byteLength(content)) : undefined;
  entries.forEach((entry, i) => {
    packEntry(entry, sizes?.[i] ?? entry.content, values, words);
  });
  const rest = { ...request, entries: [] };
  return { tenant, request: rest, values, words, contents: encodeAll(entries, sizes) };
}

function encodeAll(
  entries: readonly NewEntry[],
  sizes: readonly number[] | undefined,
): ArrayBuffer | null {
  let room = 0;
  for (const size of sizes ?? []) room += NONCE_BYTES + size;
  for (const { payloads } of entries) for (const { bytes } of payloads) room += bytes.length;
  if (room === 0) return null;
  // Not out of the pool: the memory leaves this thread.
  const contents = Buffer.allocUnsafeSlow(room);
  let end = 0;
  for (const { content, payloads } of entries) {
    if (sizes !== undefined) {
      end += NONCE_BYTES;
      end += contents.write(content, end);
    }
    for (const { bytes } of payloads) {
      contents.set(bytes, end);
      end += bytes.length;
    }
  }
  return contents.buffer;
}

/** The arguments of `append`, as they were packed. */
export function unpackAppend(parcel: AppendParcel): [string, AppendRequest] {
  const { tenant, request, values, words } = parcel;
  const contents = parcel.contents ?? NOTHING;
  const entries: NewEntry[] = [];
  let start = 0;
  for (let i = 0; i < values.length; i += ENTRY_VALUES) {
    const size = values[i + CONTENT];
    let encoded: Buffer | undefined;
    if (typeof size === "number") {
      encoded = Buffer.from(contents, start, NONCE_BYTES + size);
      start += encoded.length;
    }
    const payloads: Payload[] = [];
    for (const packed of (values[i + PAYLOADS] ?? []) as readonly PackedPayload[]) {
      const bytes = new Uint8Array(contents, start, packed.size);
      start += packed.size;
      payloads.push({ hash: packed.hash, bytes });
    }
    entries.push(unpackEntry(values, words, i, payloads, encoded));
  }
  return [tenant, { ...request, entries }];
}

const NOTHING = new ArrayBuffer(0);

/** A payload without its bytes. */
interface PackedPayload {
  readonly hash: string;
  readonly size: number;
}

/** Where an entry has its content, or the size of it. */
const CONTENT = 4;
/** And its payloads; null if it has none. */
const PAYLOADS = 13;

function packEntry(
  entry: NewEntry,
  content: string | number,
  values: unknown[],
  words: (string | null)[],
): void {
  const { usage } = entry;
  values.push(
    entry.id,
    wordNumber(entry.kind, words),
    wordNumber(entry.role, words),
    wordNumber(entry.actor, words),
    content,
    entry.contentBytes,
    usage === null ? null : usage.inputTokens,
    wordNumber(entry.model, words),
    wordNumber(entry.adapter, words),
    entry.metadata,
    entry.createdAt,
    entry.interaction,
    entry.parentId,
    entry.payloads.length === 0 ? null : entry.payloads.map(toPacked),
    rareOf(entry),
    usage?.outputTokens,
    usage?.cacheCreationTokens,
    usage?.cacheReadTokens,
  );
}

function toPacked({ hash, bytes }: Payload): PackedPayload {
  return { hash, size: bytes.length };
}

function wordNumber(word: string | null, words: (string | null)[]): number {
  const known = words.indexOf(word);
  return known < 0 ? words.push(word) - 1 : known;
}

function unpackEntry(
  values: readonly unknown[],
  words: readonly (string | null)[],
  at: number,
  payloads: readonly Payload[],
  encoded: Buffer | undefined,
): NewEntry {
  const wordAt = (i: number) => words[values[at + i] as number];
  const inputTokens = values[at + 6] as number | null;
  const usage = inputTokens === null ? null : usageOf(inputTokens, values, at + 15);
  // Field by field: what is spread, and what stands behind it, costs as much as a hash.
  const entry: Record<string, unknown> = {
    id: values[at],
    kind: wordAt(1),
    role: wordAt(2),
    actor: wordAt(3),
    content: encoded === undefined ? values[at + CONTENT] : "",
    payloads,
    contentBytes: values[at + 5],
    usage,
    model: wordAt(7),
    adapter: wordAt(8),
    metadata: values[at + 9],
    createdAt: values[at + 10],
    interaction: values[at + 11],
  };
  if (encoded !== undefined) entry["encoded"] = encoded;
  if (values[at + 12] !== undefined) entry["parentId"] = values[at + 12];
  const rare = values[at + 14] as Rare | null;
  return (rare === null ? entry : { ...entry, ...rare }) as unknown as NewEntry;
}

function usageOf(inputTokens: number, values: readonly unknown[], at: number): Usage {
  return {
    inputTokens,
    outputTokens: values[at] as number,
    cacheCreationTokens: values[at + 1] as number,
    cacheReadTokens: values[at + 2] as number,
  };
}

/** Null if this one has none of it. */
function rareOf(entry: NewEntry): Rare | null {
  const present = RARE.filter((field) => entry[field] !== undefined);
  if (present.length === 0) return null;
  return Object.fromEntries(present.map((field) => [field, entry[field]]));
}

export interface ResultParcel {
  /** The result without its entries. */
  readonly result: AppendResult;
  /** `PLACE_VALUES` of each entry, in the order of `packResult`. */
  readonly values: readonly unknown[];
}

const PLACE_VALUES = 5;

export function packResult(result: AppendResult): ResultParcel {
  const values: unknown[] = [];
  for (const { id, sequence, parentId, ordinal, hash } of result.entries) {
    values.push(id, sequence, parentId, ordinal, hash);
  }
  return { result: { ...result, entries: [] }, values };
}

export function unpackResult({ result, values }: ResultParcel): AppendResult {
  const entries: PlacedEntry[] = [];
  for (let i = 0; i < values.length; i += PLACE_VALUES) {
    entries.push({
      id: values[i] as string,
      sequence: values[i + 1] as number,
      parentId: values[i + 2] as string | null,
      ordinal: values[i + 3] as number,
      hash: values[i + 4] as string,
    });
  }
  return { ...result, entries };
}
