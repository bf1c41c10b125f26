/**
 * An append on its way to the writer's thread, and the answer on its way back.
 *
 * What crosses a thread is copied, and a copied object carries the name of each of its fields. For
 * a hundred entries the names cost more than what they name, so entries and places travel as one
 * flat list of values. The content of a history travels as bytes that are handed over and not copied:
 * that is how the writer needs it, and making text of it there would cost as much as storing it.
 */

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
  /** What the entries say, each behind room for its nonce; then `values` has how many bytes each is. */
  readonly contents: ArrayBuffer | null;
}

const ENTRY_VALUES = 15;

export function packAppend(tenant: string, request: AppendRequest): AppendParcel {
  const values: unknown[] = [];
  const contents = request.isHistory ? encodeAll(request.entries) : undefined;
  request.entries.forEach((entry, i) => {
    packEntry(entry, contents?.sizes[i] ?? entry.content, values);
  });
  const rest = { ...request, entries: [] };
  return { tenant, request: rest, values, contents: contents?.bytes ?? null };
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
  const { tenant, request, values, contents } = parcel;
  const entries: NewEntry[] = [];
  let start = 0;
  for (let i = 0; i < values.length; i += ENTRY_VALUES) {
    const size = values[i + CONTENT];
    if (contents === null || typeof size !== "number") entries.push(unpackEntry(values, i));
    else {
      const encoded = Buffer.from(contents, start, NONCE_BYTES + size);
      start += encoded.length;
      entries.push(unpackEntry(values, i, encoded));
    }
  }
  return [tenant, { ...request, entries }];
}

/** Where an entry has its content, or the size of it. */
const CONTENT = 4;

function packEntry(entry: NewEntry, content: string | number, values: unknown[]): void {
  values.push(
    entry.id,
    entry.kind,
    entry.role,
    entry.actor,
    content,
    entry.contentBytes,
    entry.usage,
    entry.model,
    entry.adapter,
    entry.metadata,
    entry.createdAt,
    entry.interaction,
    entry.parentId,
    entry.payloads.length === 0 ? null : entry.payloads,
    rareOf(entry),
  );
}

function unpackEntry(values: readonly unknown[], at: number, encoded?: Buffer): NewEntry {
  const entry = {
    id: values[at],
    kind: values[at + 1],
    role: values[at + 2],
    actor: values[at + 3],
    ...(encoded === undefined ? { content: values[at + CONTENT] } : { content: "", encoded }),
    payloads: values[at + 13] ?? [],
    contentBytes: values[at + 5],
    usage: values[at + 6],
    model: values[at + 7],
    adapter: values[at + 8],
    metadata: values[at + 9],
    createdAt: values[at + 10],
    interaction: values[at + 11],
    ...(values[at + 12] === undefined ? undefined : { parentId: values[at + 12] }),
  } as unknown as NewEntry;
  const rare = values[at + 14] as Rare | null;
  return rare === null ? entry : { ...entry, ...rare };
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
