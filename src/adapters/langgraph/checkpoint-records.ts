/** The records of checkpoints, and a cache of the parts that their children need. */

import type { RecordsApi } from "../../engine/records/records.ts";
import { eachRecord } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { StoredRecord } from "../../model/record.ts";
import type { StoredValue } from "./channel-values.ts";
import {
  checkpointKey,
  checkpointsOf,
  type Line,
  readCheckpointKey,
  taskOf,
  writesKey,
  writesOf,
} from "./keys.ts";
import type { ChannelVersion, PendingWrite, Serializer } from "./sdk-types.ts";

export type Channels = ReadonlyMap<string, StoredValue>;

export interface StoredCheckpoint {
  readonly line: Line;
  readonly id: string;
  readonly parent: string | null;
  readonly channels: Channels;
  /** The checkpoint without its values, and its metadata. */
  readonly parts: readonly Dumped[];
}

/** The part of a checkpoint that its children need. */
export interface KnownCheckpoint {
  readonly channels: Channels;
  /** The version of the record that names these channels. */
  readonly version: string;
}

/** The header of a checkpoint's record. */
interface Header {
  readonly parent: string | null;
  readonly channels: readonly (readonly [string, StoredValue])[];
}

/** Checkpoints whose channels this process caches. */
const KNOWN_CHECKPOINTS = 256;
const PAGE = 50;

export class CheckpointRecords {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  /** By their keys; the oldest are forgotten first. */
  readonly #known = new Map<string, KnownCheckpoint>();

  constructor(records: RecordsApi, namespace: string) {
    this.#records = records;
    this.#namespace = namespace;
  }

  async find(line: Line, id: string): Promise<StoredCheckpoint | undefined> {
    const record = await this.#records.find(this.#namespace, checkpointKey(line, id));
    return record && this.#seen(record);
  }

  async newest(line: Line): Promise<StoredCheckpoint | undefined> {
    const which = { namespace: this.#namespace, prefix: checkpointsOf(line), limit: 1 };
    const { records } = await this.#records.list({ ...which, values: true });
    const [record] = records;
    return record && this.#seen(record);
  }

  /** From the cache if it is there: another process may have replaced or deleted it since. */
  async known(line: Line, id: string): Promise<KnownCheckpoint | undefined> {
    const key = checkpointKey(line, id);
    if (!this.#known.has(key)) await this.find(line, id);
    return this.#known.get(key);
  }

  /** Whether some checkpoint of the thread has this version of a channel. */
  async hasVersion(line: Line, channel: string, version: ChannelVersion): Promise<boolean> {
    for await (const { channels } of this.below(line)) {
      if (channels.get(channel)?.version === version) return true;
    }
    return false;
  }

  /** From the newest to the oldest of each thread and namespace. */
  async *below(place: Partial<Line>): AsyncGenerator<StoredCheckpoint> {
    const prefix = checkpointsOf(place);
    const range = { namespace: this.#namespace, prefix, limit: PAGE, values: true } as const;
    for await (const record of eachRecord(this.#records, range)) yield toStored(record);
  }

  know(key: string, known: KnownCheckpoint): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_CHECKPOINTS) return;
      this.#known.delete(oldest);
    }
  }

  /** Drops the cached channels of a thread, or of all. */
  forget(place: Partial<Line>): void {
    for (const key of [...this.#known.keys()]) {
      if (key.startsWith(checkpointsOf(place))) this.#known.delete(key);
    }
  }

  #seen(record: StoredRecord): StoredCheckpoint {
    const stored = toStored(record);
    this.know(record.key, { channels: stored.channels, version: record.version });
    return stored;
  }
}

/** The value of a checkpoint's record. */
export function toRecordValue(
  parent: string | undefined,
  channels: Channels,
  parts: readonly Dumped[],
): Uint8Array {
  const header: Header = { parent: parent ?? null, channels: [...channels] };
  return toFrame(header, parts);
}

export function toStored({ key, value }: StoredRecord): StoredCheckpoint {
  const { header, parts } = fromFrame<Header>(value, key);
  const { id, ...line } = readCheckpointKey(key);
  return { line, id, parent: header.parent, channels: new Map(header.channels), parts };
}

// Writes of tasks that belong to a checkpoint and are not part of the next one yet: one record per
// task.

/** The fixed indexes of LangGraph's special channels: a task keeps the last write to each. */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["__error__", -1],
  ["__scheduled__", -2],
  ["__interrupt__", -3],
  ["__resume__", -4],
]);

/** Retries of a compare-and-swap that lost to a concurrent writer of the same task. */
const MAX_TRIES = 16;

type Slot = readonly [channel: string, index: number];

export class PendingWrites {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #serde: Serializer;
  readonly #ttl: number | null;

  constructor(records: RecordsApi, namespace: string, serde: Serializer, ttl: number | null) {
    this.#records = records;
    this.#namespace = namespace;
    this.#serde = serde;
    this.#ttl = ttl;
  }

  /** First write wins for a task and an index; for a special channel, the last one. */
  async put(
    line: Line,
    checkpointId: string,
    writes: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Promise<void> {
    const key = writesKey(line, checkpointId, taskId);
    const dumped = await Promise.all(writes.map(([, value]) => this.#serde.dumpsTyped(value)));
    const slots = writes.map(([channel], i): Slot => [channel, SPECIAL.get(channel) ?? i]);
    let seen: { readonly value: unknown; readonly version: string } | undefined;
    for (let tries = 1; ; tries++) {
      const merged = new Map<number, readonly [Slot, Dumped]>();
      if (seen !== undefined) {
        const { header, parts } = fromFrame<readonly Slot[]>(seen.value, key);
        for (const [i, slot] of header.entries()) merged.set(slot[1], [slot, parts[i] as Dumped]);
      }
      for (const [i, slot] of slots.entries()) {
        const [, index] = slot;
        if (index < 0 || !merged.has(index)) merged.set(index, [slot, dumped[i] as Dumped]);
      }
      const all = [...merged.values()].sort(([[, a]], [[, b]]) => a - b);
      const value = toFrame(
        all.map(([slot]) => slot),
        all.map(([, part]) => part),
      );
      const expectedVersion = seen?.version ?? null;
      const record = { namespace: this.#namespace, key, value, ttl: this.#ttl, expectedVersion };
      try {
        await this.#records.compareAndSet(record);
        return;
      } catch (error) {
        if (!BackscrollError.is(error, "record_conflict") || tries === MAX_TRIES) throw error;
        seen = await this.#records.find(this.#namespace, key);
      }
    }
  }

  /** In the order of tasks, and of each task's writes. */
  async list(line: Line, checkpointId: string): Promise<PendingWrite[]> {
    const found: PendingWrite[] = [];
    const prefix = writesOf(line, checkpointId);
    const range = { namespace: this.#namespace, prefix, values: true } as const;
    for await (const { key, value } of eachRecord(this.#records, range)) {
      const { header, parts } = fromFrame<readonly Slot[]>(value, key);
      for (const [i, [channel]] of header.entries()) {
        const [type, bytes] = parts[i] as Dumped;
        found.push([taskOf(key), channel, await this.#serde.loadsTyped(type, bytes)]);
      }
    }
    return found;
  }
}

// Several byte strings in one value of a record: the length of a header in JSON, the header, the parts.

const LENGTH_BYTES = 4;

/** A serializer's result: the name of its form, and the bytes. */
export type Dumped = readonly [type: string, bytes: Uint8Array];

interface Frame<Header> {
  readonly header: Header;
  readonly parts: readonly Dumped[];
}

function toFrame<Header>(header: Header, parts: readonly Dumped[]): Uint8Array {
  const sizes = parts.map(([type, { length }]) => [type, length]);
  const text = Buffer.from(JSON.stringify({ header, sizes }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...parts.map(([, bytes]) => bytes)]);
}

function fromFrame<Header>(value: unknown, name: string): Frame<Header> {
  if (!(value instanceof Uint8Array)) throw damaged(name);
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  try {
    let end = LENGTH_BYTES + bytes.readUInt32BE();
    const text = bytes.subarray(LENGTH_BYTES, end).toString();
    const { header, sizes } = JSON.parse(text) as {
      readonly header: Header;
      readonly sizes: readonly (readonly [string, number])[];
    };
    const parts = sizes.map(([type, size]): Dumped => {
      const start = end;
      end += size;
      return [type, bytes.subarray(start, end)];
    });
    if (end === bytes.length) return { header, parts };
  } catch (cause) {
    throw damaged(name, cause);
  }
  throw damaged(name);
}

function damaged(name: string, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `record ${name} does not have the form that this checkpointer writes`,
    { details: { record: name }, cause },
  );
}
