/**
 * An append on its way to the writer's thread, and the answer on its way back.
 *
 * What crosses a thread is copied, and a copied object carries the name of each of its fields. For
 * a hundred entries the names cost more than what they name, so entries and places travel as one
 * flat list of values, in which what few words say, such as the role, is the number of the word. The content of a history travels as bytes that are handed over and not copied:
 * that is how the writer needs it, and making text of it there would cost as much as storing it.
 */

import type { Usage } from "../../model/entry.ts";
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
  /** What the entries say, each behind room for its nonce; then `values` has how many bytes each is. */
  readonly contents: ArrayBuffer | null;
}

const ENTRY_VALUES = 18;

export function packAppend(tenant: string, request: AppendRequest): AppendParcel {
  const values: unknown[] = [];
  const words: (string | null)[] = [];
  const contents = request.isHistory ? encodeAll(request.entries) : undefined;
  request.entries.forEach((entry, i) => {
    packEntry(entry, contents?.sizes[i] ?? entry.content, values, words);
  });
  const rest = { ...request, entries: [] };
  return { tenant, request: rest, values, words, contents: contents?.bytes ?? null };
}

interface Contents {
  readonly bytes: ArrayBuffer;
  readonly sizes: readonly number[];
}

function encodeAll(entries: readonly NewEntry[]): Contents {
  const sizes = entries.map(({ content }) => Buffer.byteLength(content));
  const room = sizes.reduce((sum, size) => sum + NONCE_BYTES + size, 0);
  // Not out of the pool: the memory leaves this thread.
  const bytes = Buffer.allocUnsafeSlow(room);
  let end = 0;
  for (const { content } of entries) {
    end += NONCE_BYTES;
    end += bytes.write(content, end);
  }
  return { bytes: bytes.buffer, sizes };
}

/** The arguments of `append`, as they were packed. */
export function unpackAppend(parcel: AppendParcel): [string, AppendRequest] {
  const { tenant, request, values, words, contents } = parcel;
  const entries: NewEntry[] = [];
  let start = 0;
  for (let i = 0; i < values.length; i += ENTRY_VALUES) {
    const size = values[i + CONTENT];
    if (contents === null || typeof size !== "number") entries.push(unpackEntry(values, words, i));
    else {
      const encoded = Buffer.from(contents, start, NONCE_BYTES + size);
      start += encoded.length;
      entries.push(unpackEntry(values, words, i, encoded));
    }
  }
  return [tenant, { ...request, entries }];
}

/** Where an entry has its content, or the size of it. */
const CONTENT = 4;

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
    entry.payloads.length === 0 ? null : entry.payloads,
    rareOf(entry),
    usage?.outputTokens,
    usage?.cacheCreationTokens,
    usage?.cacheReadTokens,
  );
}

function wordNumber(word: string | null, words: (string | null)[]): number {
  const known = words.indexOf(word);
  return known < 0 ? words.push(word) - 1 : known;
}

function unpackEntry(
  values: readonly unknown[],
  words: readonly (string | null)[],
  at: number,
  encoded?: Buffer,
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
    payloads: values[at + 13] ?? [],
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
